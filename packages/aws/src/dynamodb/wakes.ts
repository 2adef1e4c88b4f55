import type { Job, WakeListener } from '@waybill/core';

/** Tells the listeners of this process what may have become claimable. Hints: one too many does no harm. */
export class Wakes {
  readonly #listeners = new Set<WakeListener>();

  listen(listener: WakeListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  queue(...names: string[]): void {
    if (names.length > 0) for (const listener of [...this.#listeners]) listener(names);
  }

  /** Any queue may have something. */
  all(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** The queues of those among the rows that can be claimed. */
  jobs(rows: readonly Job[]): void {
    this.queue(...new Set(rows.filter((row) => row.rank !== null).map((row) => row.queue)));
  }
}
