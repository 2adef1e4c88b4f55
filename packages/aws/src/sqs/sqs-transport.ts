import { checkNodeVersion, type Delivery, type Hint, type Transport, WaybillError } from '@waybill/core';
import { firstAnswer } from '../first-answer.ts';
import { sqsAside } from './aside.ts';
import type { Base } from './base.ts';
import { deadMessage } from './dead-jobs.ts';
import { attributesOf, bodyOf, readReceipt } from './message.ts';
import { openClient, worded } from './open-client.ts';
import { QueueBook } from './queue-book.ts';
import { TIERS, tierOf } from './queue-names.ts';
import { queuePulse } from './queue-pulse.ts';
import { drain, LateReceives, unlessAborted, waitFor } from './receive.ts';
import type { Message } from './sdk.ts';
import { type SqsOptions, settingsOf } from './settings.ts';
import { Sources } from './sources.ts';

/** SQS delays no longer; what shall wait longer is brought by its row. */
const LONGEST_DELAY_MS = 900_000;

export interface SqsTransport extends Transport {
  /** Messages so far that were neither hints nor to be adopted. */
  readonly poisoned: number;
}

/** Hints as messages of SQS: one standard queue per job queue and tier. */
export async function sqsTransport(options: SqsOptions = {}): Promise<SqsTransport> {
  checkNodeVersion();
  const settings = settingsOf(options);
  const { clock } = settings;
  const { sdk, client, poller, close } = await openClient(options);
  const base: Base = { sdk, client: worded(client), poller: worded(poller), settings };
  const closing = new AbortController();
  const book = new QueueBook(base);
  const sources = new Sources(base, book, closing.signal);
  const pulse = queuePulse(base, book);
  const sending = new Set<Promise<void>>();
  const late = new LateReceives(settings.logger);
  // A client of the caller's own may have been asked already.
  if (!options.client) void checkPlace();

  /** A mistake in the address is reported before the first job is enqueued. */
  async function checkPlace(): Promise<void> {
    const QueueName = book.nameFor({ tenant: '', queue: 'default' }, 'default')!;
    const request = base.client.send(new sdk.GetQueueUrlCommand({ QueueName }));
    const place = { service: 'SQS', region: options.region, endpoint: options.endpoint };
    const reporting = { logger: settings.logger, signal: closing.signal };
    await firstAnswer(request, place, reporting).catch((error: unknown) => {
      // Anything else is an answer, for example that there is no such queue yet.
      if (closing.signal.aborted || !(error instanceof WaybillError)) return;
      settings.logger.warn({ hint: error.hint }, `${error.message} Workers look into the store until it does.`);
    });
  }

  /** Every one gets its try, and the first failure is told. */
  function sendAll(work: readonly Promise<void>[]): Promise<void> {
    const all = Promise.allSettled(work).then((ends) => {
      sending.delete(all);
      const failed = ends.find((end) => end.status === 'rejected');
      if (failed) throw failed.reason;
    });
    sending.add(all);
    return all;
  }

  const sendHint = (hint: Hint): Promise<void> =>
    sources.send(hint, tierOf(hint.priority), {
      MessageBody: bodyOf(hint),
      MessageAttributes: attributesOf(hint),
      ...(hint.delayMs > 0 && { DelaySeconds: Math.ceil(hint.delayMs / 1000) }),
    });

  async function hide({ receipt, ...place }: Delivery, ms: number): Promise<void> {
    const { name, handle } = readReceipt(receipt);
    await (await sources.byName(name, place))?.calls.hide(handle, ms);
  }

  async function ack({ receipt, ...place }: Delivery): Promise<void> {
    const { name, handle } = readReceipt(receipt);
    await (await sources.byName(name, place))?.calls.remove(handle);
  }

  return {
    capabilities: { name: 'sqs', ordering: 'tiers', delivers: 'hints' },
    get poisoned() {
      return sources.poisoned;
    },
    ...(!settings.createQueues && { checkQueue: (tenant, queue) => book.check({ tenant, queue }) }),
    send: (hints) => sendAll(hints.filter(({ delayMs }) => delayMs <= LONGEST_DELAY_MS).map(sendHint)),
    receive: async (request) => {
      const signal = request.signal ? AbortSignal.any([request.signal, closing.signal]) : closing.signal;
      if (signal.aborted) return { kind: 'hints', deliveries: [] };
      const places = request.queues.map((queue) => ({ tenant: request.tenant, queue }));
      const lines = await unlessAborted(sources.toReceive(places), signal);
      const redriven = lines && (await unlessAborted(sources.toRedrive(places), signal));
      if (!lines || !redriven) return { kind: 'hints', deliveries: [] };
      // A long poll answers at once when there is something, so the last queue need not be asked twice.
      const first = request.waitMs > 0 ? [...lines.slice(0, -1), ...redriven] : [...lines, ...redriven];
      const there = await drain(first, request, { signal, closing: closing.signal, late });
      const deliveries =
        there.length > 0 || request.waitMs === 0 || signal.aborted
          ? there
          : await waitFor(lines, request, clock, signal);
      return { kind: 'hints', deliveries };
    },
    ack,
    extend: (delivery, ms) => hide(delivery, Math.min(ms, settings.visibilityMs)),
    release: hide,
    depth: async (tenant, queue) => {
      const lines = await Promise.all(TIERS.map((tier) => sources.find({ tenant, queue }, tier)));
      const depths = await Promise.all([...new Set(lines)].map((line) => line?.source.depth() ?? 0));
      return depths.reduce((sum, depth) => sum + depth, 0);
    },
    putAside: async (delivery, reason) => {
      if (delivery.message !== undefined) await sources.putAside(delivery, delivery.message as Message, reason);
      await ack(delivery);
    },
    aside: sqsAside(base, book, sources),
    ping: () => pulse.feel(),
    tellDead: (jobs) => sendAll(jobs.map((job) => sources.send(job, 'dead', { MessageBody: deadMessage(job) }))),
    close: async () => {
      closing.abort();
      // A process may end right after it has enqueued a job: its hint shall still go out.
      await Promise.allSettled(sending);
      await late.idle();
      await sources.idle();
      close();
    },
  };
}
