import type { Clock, Delivery, ReceiveRequest } from '@waybill/core';
import { PER_REQUEST } from './batches.ts';
import type { LongPoll, Waiter } from './long-poll.ts';

/** Takes what is there, queue by queue and tier by tier, until there is no room or nothing more. */
export async function drain(
  lines: readonly LongPoll[],
  { max, claim }: ReceiveRequest,
  signal: AbortSignal,
): Promise<Delivery[]> {
  const taken: Delivery[] = [];
  for (const { source } of lines) {
    for (;;) {
      const asked = Math.min(PER_REQUEST, max - taken.length);
      if (asked <= 0 || signal.aborted) return taken;
      const got = await source.receive(asked, claim.leaseMs, 0, signal);
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
