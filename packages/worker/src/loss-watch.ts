import type { JobEventType, LoggedEvent } from '@waybill/core';
import type { HeldRun, HeldRuns } from './held-run.ts';
import type { ResolvedWorkerOptions } from './options.ts';
import { Bell, backoffMs } from './patience.ts';

/** Younger runs are most likely over before a word of their end could arrive; short jobs so cost no reader. */
const WATCHED_AFTER_MS = 500;
/** Opening and closing a stream for every second job would cost more than keeping it. */
const LINGER_MS = 10_000;

/** How a run ends without its worker. A completion is always the worker's own, and would be most of the stream. */
const ENDS: readonly JobEventType[] = [
  ...(['job.cancelled', 'job.discarded', 'job.failed'] as const),
  ...(['job.lease_expired', 'job.requeued', 'job.snoozed'] as const),
];

interface LossWatchParts extends Pick<ResolvedWorkerOptions, 'events' | 'clock' | 'logger' | 'queues' | 'tenant'> {
  held: HeldRuns;
  onLost(run: HeldRun): void;
  /** Asks the server now about every run. */
  askAgain(): void;
}

/**
 * Follows the event log while some run goes on for longer, so that its handler hears of a cancel at once. The
 * heartbeat would find out too, only later: it stays the one that is relied on.
 */
export class LossWatch {
  readonly #parts: LossWatchParts;
  readonly #ending = new AbortController();
  readonly #begun = new Bell();
  #loop: Promise<void> | undefined;
  #following: AbortController | undefined;
  #failures = 0;

  constructor(parts: LossWatchParts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#parts.events !== undefined) this.#loop ??= this.#watch();
  }

  async end(): Promise<void> {
    this.#ending.abort();
    this.#following?.abort();
    this.#begun.ring();
    await this.#loop;
  }

  /** A run has begun. */
  notice(): void {
    this.#begun.ring();
  }

  async #watch(): Promise<void> {
    const { clock, held } = this.#parts;
    const { signal } = this.#ending;
    let neededAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      if (this.#isNeeded()) {
        neededAt = clock.monotonic();
        if (this.#following === undefined) void this.#follow();
      } else if (clock.monotonic() - neededAt >= LINGER_MS) {
        this.#following?.abort();
        if (held.size === 0) await this.#begun.wait();
      }
      await clock.sleep(WATCHED_AFTER_MS, signal);
    }
  }

  #isNeeded(): boolean {
    const { clock, held } = this.#parts;
    const since = clock.monotonic() - WATCHED_AFTER_MS;
    return held.all().some(({ claimedAt, state }) => claimedAt <= since && state !== 'settling');
  }

  async #follow(): Promise<void> {
    const { events, clock, logger, queues, tenant, askAgain } = this.#parts;
    const following = new AbortController();
    const { signal } = following;
    this.#following = following;
    try {
      const after = await events!.end();
      // What happened before the place where we begin is told by a heartbeat that is sent after it.
      askAgain();
      const filter = { types: ENDS, queues, tenant };
      for await (const event of events!.follow({ after, filter, signal, onMissed: askAgain })) {
        this.#failures = 0;
        this.#hear(event);
      }
    } catch (error) {
      this.#failures += 1;
      if (this.#failures === 1 && !signal.aborted)
        logger.warn({ err: error }, 'Events cannot be followed; a cancel is heard of by the next heartbeat.');
      await clock.sleep(backoffMs(this.#failures), this.#ending.signal);
    }
    this.#following = undefined;
  }

  #hear({ jobId, run: number }: LoggedEvent): void {
    const { held, onLost } = this.#parts;
    const run = jobId === undefined ? undefined : held.get(jobId);
    // What this worker is just settling, or has claimed anew, is its own doing.
    if (run === undefined || run.state === 'settling' || run.lease.job.run !== number) return;
    onLost(run);
  }
}
