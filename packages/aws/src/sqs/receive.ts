import type { Clock, Delivery, Logger, ReceiveRequest } from '@waybill/core';
import { giveBack, type LongPoll, type Waiter } from './long-poll.ts';
import type { Source } from './source.ts';

/** Resolves as `work` does, or with undefined once the signal is aborted; then `work` goes on without its caller. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) {
    work.catch(() => {});
    return undefined;
  }
  const aborted = Promise.withResolvers<undefined>();
  const abort = () => aborted.resolve(undefined);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Receives that were left by their callers. What they bring is given back to their queues. */
export class LateReceives {
  readonly #logger: Logger;
  readonly #open = new Set<Promise<void>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  add(source: Source, receiving: Promise<Delivery[]>): void {
    const given = receiving
      .then((deliveries) => giveBack(source, deliveries))
      .catch((error: unknown) => {
        this.#logger.warn({ err: error, queue: source.name }, 'A receive failed after its caller had left.');
      });
    this.#open.add(given);
    void given.finally(() => this.#open.delete(given));
  }

  async idle(): Promise<void> {
    await Promise.all(this.#open);
  }
}

export interface DrainParts {
  /** Of the caller. */
  signal: AbortSignal;
  /** Of the transport. */
  closing: AbortSignal;
  late: LateReceives;
}

/**
 * Takes what is there, queue by queue and tier by tier, until there is no room or nothing more. A request under way is
 * not broken off when its caller leaves: SQS may have chosen messages for it, and only its answer can give them back.
 */
export async function drain(
  lines: readonly LongPoll[],
  { max, claim }: ReceiveRequest,
  { signal, closing, late }: DrainParts,
): Promise<Delivery[]> {
  const taken: Delivery[] = [];
  for (const { source } of lines) {
    for (;;) {
      const asked = Math.min(source.messagesPerReceive, max - taken.length);
      if (asked <= 0 || signal.aborted) return taken;
      const receiving = source.receive(asked, claim.leaseMs, 0, closing);
      const got = await unlessAborted(receiving, signal);
      if (got === undefined) {
        late.add(source, receiving);
        return taken;
      }
      taken.push(...got);
      if (got.length < asked) break;
    }
  }
  return taken;
}

/** Waits on all queues at once until the first message comes, the time is over or the caller gives up. */
export async function waitFor(
  lines: readonly LongPoll[],
  { max, claim, waitMs }: ReceiveRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<Delivery[]> {
  const came = new AbortController();
  let taken: Delivery[] = [];
  const leave = () => {
    for (const line of lines) line.leave(waiter);
  };
  const waiter: Waiter = {
    room: max,
    leaseMs: claim.leaseMs,
    until: clock.monotonic() + waitMs,
    take: (deliveries) => {
      taken = deliveries;
      leave();
      came.abort();
    },
  };
  for (const line of lines) line.join(waiter);
  await clock.sleep(waitMs, AbortSignal.any([signal, came.signal]));
  leave();
  return taken;
}
