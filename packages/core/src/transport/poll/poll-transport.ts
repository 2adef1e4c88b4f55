import { GroupCommit } from '../../commit/group-commit.ts';
import type { Job } from '../../job/job.ts';
import type { ClaimRequest } from '../../store/claim.ts';
import type { Store } from '../../store/store.ts';
import type { Received, ReceiveRequest, Transport } from '../transport.ts';
import { UsedUp } from './used-up.ts';
import { type Handed, WaitingClaims } from './waiting-claims.ts';
import { WakeUps } from './wake-ups.ts';

export interface PollOptions {
  store: Store;
  /** Longest wait between two looks when no wake-up comes. @defaultValue 1_000 */
  safetyNetMs?: number;
}

/** Claims that share one transaction. */
const CLAIMS_PER_FLUSH = 64;

/** Receiving is the claim itself; the store's wake-ups say when to look again, and a slow poll is the safety net. */
export function pollTransport({ store, safetyNetMs = 1_000 }: PollOptions): Transport {
  const { clock } = store;
  const claims = new GroupCommit<ClaimRequest, Job[]>({
    flush: (requests) => store.claim(requests),
    maxItems: CLAIMS_PER_FLUSH,
    parallel: store.capabilities.parallelFlushes,
    // A worker that got a hundred jobs starts them all in this turn; the next hundred should be on their way by then.
    eager: true,
  });
  const wakeUps = new WakeUps(store);
  const waitingClaims = new WaitingClaims();
  const usedUp = new UsedUp(clock, safetyNetMs);
  // Elsewhere a claim may get too little although there is more.
  const isExact = store.capabilities.ordering === 'strict';
  const closing = new AbortController();
  /** A worker comes with the same signal again and again. */
  const orClosing = new WeakMap<AbortSignal, AbortSignal>();

  function untilClosing(signal: AbortSignal): AbortSignal {
    const known = orClosing.get(signal) ?? AbortSignal.any([signal, closing.signal]);
    orClosing.set(signal, known);
    return known;
  }

  const toClaim = ({ tenant, queues, max: limit, claim }: ReceiveRequest): ClaimRequest => {
    return { tenant, queues, limit, ...claim, now: clock.now() };
  };
  const claimFor = (request: ReceiveRequest): Promise<Job[]> => claims.run(toClaim(request));

  /** A rate frees its places silently; nobody writes when that happens, so nobody wakes. */
  async function untilOpen({ tenant, queues }: ReceiveRequest): Promise<number> {
    const opensAt = (await store.opensAt?.({ tenant, queues, now: clock.now() })) ?? null;
    return opensAt === null ? Number.POSITIVE_INFINITY : Math.max(1, opensAt - clock.now());
  }

  async function receive(request: ReceiveRequest): Promise<Received> {
    if (request.waitMs === 0) return { kind: 'claimed', jobs: await claimFor(request) };
    const until = clock.monotonic() + request.waitMs;
    const signal = request.signal ? untilClosing(request.signal) : closing.signal;
    const listen = () => wakeUps.next(request.queues);
    let silence = usedUp.take(request);
    let handed: Handed | undefined;
    for (;;) {
      // Listening before looking: a job that arrives in between must not be slept through.
      const woken = silence ?? handed?.woken ?? listen();
      const jobs = silence ? [] : ((await handed?.jobs) ?? (await claimFor(request)));
      silence = undefined;
      const left = until - clock.monotonic();
      if (jobs.length > 0 || left <= 0) {
        if (isExact && jobs.length > 0 && jobs.length < request.max) usedUp.leave(request, woken);
        else woken.cancel();
        return { kind: 'claimed', jobs };
      }
      const waitMs = Math.min(left, safetyNetMs, await untilOpen(request));
      const place = waitingClaims.enter({ asked: request, toClaim, signal, woken, listen });
      await woken.orAfter(waitMs, signal);
      handed = waitingClaims.leave(place);
      // Nobody is there any more to take a job: claiming one now would only cost it a lease time.
      if (signal.aborted && !handed) return { kind: 'claimed', jobs: [] };
    }
  }

  return {
    capabilities: { name: 'poll', ordering: 'strict', delivers: 'claimed' },
    send: async () => {},
    receive,
    takeWaiting: (tenant, queue) => waitingClaims.take(tenant, queue),
    ack: async () => {},
    extend: async () => {},
    release: async () => {},
    close: async () => {
      closing.abort();
      await claims.idle();
      wakeUps.close();
    },
  };
}
