import type { Clock } from '../clock.ts';
import type { LockStore, TakeAnswer, TakeRequest } from './locks.ts';

/**
 * The lease of another owner of a lock, as this process sees it. An owner prolongs its lease while it works longer than
 * the lease lasts. So one whose end has stayed the same for the time of a lease has ended, even where its end is a day
 * ahead because the clock was that it was written by.
 */
export class RivalLease {
  readonly #leaseMs: number;
  #until: number | undefined;
  #since = 0;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Takes the lock, also from an owner whose lease has ended without the clock of the store showing it. */
  async take(
    locks: Pick<LockStore, 'take'>,
    holder: Pick<TakeRequest, 'name' | 'owner'>,
    clock: Clock,
  ): Promise<TakeAnswer> {
    const isStale = this.#until !== undefined && clock.monotonic() - this.#since >= this.#leaseMs;
    const stale = isStale ? { staleUntil: this.#until! } : {};
    const answer = await locks.take({ ...holder, leaseMs: this.#leaseMs, ...stale });
    if (answer.status === 'taken' && answer.until !== this.#until) {
      this.#until = answer.until;
      this.#since = clock.monotonic();
    }
    return answer;
  }
}
