import { type Engine, type Logger, stderrLogger, WaybillError } from '@waybill/core';
import { DLQ_ERROR } from '../event-bus/task-properties.ts';
import { isStrange } from '../sqs/message.ts';
import { type EngineHandlerOptions, functionEngine } from './function-engine.ts';
import type { BatchResponse, SqsEvent, SqsRecord } from './lambda-types.ts';
import { type LambdaAdopt, readRecord } from './read-record.ts';

export interface DlqHandlerOptions extends EngineHandlerOptions {
  /** Set where messages of a foreign producer are in the queue. @defaultValue none */
  adopt?: LambdaAdopt;
}

/**
 * A function at a redrive queue, with a batch size of 1: ends the job of a message that no worker could take, as failed for
 * good, under its own ids. The row decides. A job that has finished is left alone, and while a worker holds it, its message
 * comes again.
 */
export function dlqHandler(options: DlqHandlerOptions) {
  const { adopt, logger = stderrLogger } = options;
  const opened = functionEngine(options);
  return async ({ Records }: SqsEvent): Promise<BatchResponse> => {
    const { engine, idle } = await opened();
    const batchItemFailures: BatchResponse['batchItemFailures'] = [];
    for (const record of Records) {
      const isDone = await endJob(engine, record, adopt, logger);
      if (!isDone) batchItemFailures.push({ itemIdentifier: record.messageId });
    }
    await idle();
    return { batchItemFailures };
  };
}

/** Answers whether the message is of no more use. */
async function endJob(
  engine: Engine,
  record: SqsRecord,
  adopt: LambdaAdopt | undefined,
  logger: Logger,
): Promise<boolean> {
  const { messageId: message } = record;
  const read = readRecord(record, adopt);
  if (isStrange(read)) {
    logger.warn({ message, reason: read.strange }, 'A message that names no job was removed from a redrive queue.');
    return true;
  }
  try {
    // A message of a foreign producer may have no row yet. Its failure gets one, under the name that the message gives.
    const id = await engine.upkeep.adopt(read);
    await engine.upkeep.giveUp(id, DLQ_ERROR, { tenant: read.tenant });
    logger.warn({ job: id, message }, 'A job was given up, because no worker could take its message.');
    return true;
  } catch (error) {
    const code = error instanceof WaybillError ? error.code : undefined;
    if (code === 'not_found') return true;
    if (code === 'conflict') return !isHeld(error as WaybillError);
    logger.warn({ err: error, message }, 'The job of a message could not be ended; the message comes again.');
    return false;
  }
}

const isHeld = ({ details }: WaybillError): boolean => (details as { state?: unknown } | undefined)?.state === 'active';
