import {
  type BlobOptions,
  type Delivery,
  engine,
  type Logger,
  type Store,
  stderrLogger,
  type Transport,
} from '@waybill/core';
import { isStrange } from '../sqs/message.ts';
import type { BatchResponse, LambdaContext, SqsEvent, SqsRecord } from './lambda-types.ts';
import { openedOnce } from './opened-once.ts';
import { type LambdaAdopt, messageOf, readRecord, receiptIn } from './read-record.ts';
import { recordJobs, type WorkerJobs } from './record-jobs.ts';
import { RecordTransport } from './record-transport.ts';

export interface WorkerHandlerOptions {
  /**
   * Opened by the first invocation and kept as long as the function's container lives. `blobs` is what the other processes
   * of the store keep large payloads in.
   */
  open(): Promise<{ store: Store; transport: Transport; blobs?: BlobOptions }>;
  /** A worker on these jobs, not yet started: `(jobs) => new Worker({ jobs, tasks })`. One per invocation. */
  worker(jobs: WorkerJobs): LambdaWorker;
  /** How long before its deadline the function hands back what still runs. @defaultValue 10_000 */
  handBackMs?: number;
  /** Set where the function is at the queue of a foreign producer. @defaultValue none */
  adopt?: LambdaAdopt;
  /** @defaultValue stderrLogger */
  logger?: Logger;
}

export interface LambdaWorker {
  start(): unknown;
  /** Waits this long for running jobs, then aborts them and hands them back. */
  stop(options: { graceMs: number }): Promise<void>;
}

interface StrangeRecord {
  record: SqsRecord;
  reason: string;
}

const HAND_BACK_MS = 10_000;

/**
 * A Lambda function with SQS as its event source: claims the jobs that the messages name, runs them and settles them. A
 * message is kept only when its job was neither settled nor found to be none of ours to run. The same function belongs at
 * the redrive queue. Upkeep (due rows, crons) is not done here; a server or a scheduled function must do it.
 */
export function workerHandler(options: WorkerHandlerOptions) {
  const { handBackMs = HAND_BACK_MS, logger = stderrLogger, adopt } = options;

  const opened = openedOnce(async () => {
    const { transport, ...parts } = await options.open();
    const records = new RecordTransport(transport);
    const waybill = engine({ ...parts, transport: records, logger, maintenance: false });
    return { records, clock: parts.store.clock, waybill };
  });

  /** At the queue of a foreign producer it may be one that somebody wants to repair; elsewhere it is of no use. */
  async function dropStrange(strange: readonly StrangeRecord[], records: RecordTransport): Promise<string[]> {
    const unkept: string[] = [];
    for (const { record, reason } of strange) {
      const { messageId } = record;
      logger.warn({ message: messageId }, `A message that is no ${adopt ? 'job is put aside' : 'hint is removed'}.`);
      if (!adopt) continue;
      const delivery = { tenant: '', jobId: '', queue: adopt.queue, receipt: receiptIn(record) };
      await records.keep({ ...delivery, message: messageOf(record) }, reason).catch((error: unknown) => {
        logger.warn({ err: error, message: messageId }, 'A message could not be put aside; it is delivered again.');
        unkept.push(messageId);
      });
    }
    return unkept;
  }

  return async (event: SqsEvent, context: LambdaContext): Promise<BatchResponse> => {
    const { records, clock, waybill } = await opened();
    const messages: { messageId: string; delivery: Delivery }[] = [];
    const strange: StrangeRecord[] = [];
    for (const record of event.Records) {
      const read = readRecord(record, adopt);
      if (isStrange(read)) strange.push({ record, reason: read.strange });
      else messages.push({ messageId: record.messageId, delivery: read });
    }
    const unkept = await dropStrange(strange, records);
    const over = new AbortController();
    void records.begin(messages).then(() => over.abort());
    const worker = options.worker(recordJobs(waybill.jobs, records, clock));
    worker.start();
    await clock.sleep(context.getRemainingTimeInMillis() - handBackMs, over.signal);
    await worker.stop({ graceMs: 0 });
    await records.idle();
    return { batchItemFailures: [...records.failures(), ...unkept].map((itemIdentifier) => ({ itemIdentifier })) };
  };
}
