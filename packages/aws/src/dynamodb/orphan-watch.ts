import type { Clock } from '@waybill/core';

/** After this time a segment that nobody has confirmed is settled by whoever reads it. */
export const ORPHANED_AFTER_MS = 60_000;
/** So old is a segment only if its writer is gone: AWS takes no requests of clocks that are further apart. */
const CERTAINLY_OLD_MS = 600_000;
/** Open segments that a process remembers. */
const MOST_WATCHED = 10_000;
/** A writer that is silent for this long has most likely died, and has left more than this segment. */
const AHEAD_AFTER_MS = 5_000;
/** Segments that one read looks at ahead of the one that it waits for. */
const MOST_AHEAD = 1_000;

/** How long a reader may wait for a writer that died: until it looks ahead, then the minute, and the time between two reads. */
export const LONGEST_LAG_MS = AHEAD_AFTER_MS + ORPHANED_AFTER_MS + 5_000;

/**
 * Tells when a segment's writer has been silent for too long: this process has watched the segment for a minute by its
 * own monotonic clock, so it does not matter whose clock is wrong. Being early costs the writer its call, never an event.
 */
export class OrphanWatch {
  readonly #clock: Clock;
  readonly #since = new Map<number, number>();
  /** The positions that were looked at ahead of a reader, the last one included. */
  #ahead = { from: 0, to: -1 };

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

  /**
   * The next positions to look at ahead of one that a reader waits for, so that their minutes begin now and not one after
   * another; null: none, or the writer may only be slow. Each is looked at once.
   */
  nextAhead(position: number, newest: number): { from: number; to: number } | null {
    const since = this.#since.get(position);
    if (since === undefined || this.#clock.monotonic() - since < AHEAD_AFTER_MS) return null;
    const isKnown = position + 1 >= this.#ahead.from && position <= this.#ahead.to;
    const from = isKnown ? this.#ahead.to + 1 : position + 1;
    if (from > newest) return null;
    const to = Math.min(newest, from + MOST_AHEAD - 1);
    this.#ahead = { from: isKnown ? this.#ahead.from : from, to };
    return { from, to };
  }

  forget(position: number): void {
    this.#since.delete(position);
  }
}
