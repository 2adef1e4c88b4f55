import type { Clock } from '@waybill/core';

/** After this time a segment that nobody has confirmed is settled by whoever reads it. */
export const ORPHANED_AFTER_MS = 60_000;
/** So old is a segment only if its writer is gone: AWS takes no requests of clocks that are further apart. */
const CERTAINLY_OLD_MS = 600_000;
/** Open segments that a process remembers. */
const MOST_WATCHED = 1_000;

/**
 * Tells when a segment's writer has been silent for too long: this process has watched the segment for a minute by its
 * own monotonic clock, so it does not matter whose clock is wrong. Being early costs the writer its call, never an event.
 */
export class OrphanWatch {
  readonly #clock: Clock;
  readonly #since = new Map<number, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `drawnAt`: by the clock of the writer. */
  isOrphaned(position: number, drawnAt: number): boolean {
    const now = this.#clock.monotonic();
    const since = this.#since.get(position) ?? now;
    this.#since.set(position, since);
    if (this.#since.size > MOST_WATCHED) this.#since.delete(this.#since.keys().next().value!);
    return now - since >= ORPHANED_AFTER_MS || this.#clock.now() - drawnAt >= CERTAINLY_OLD_MS;
  }

  forget(position: number): void {
    this.#since.delete(position);
  }
}
