import type { Clock } from '@waybill/core';

/** Other processes may prune the row of a queue that this one knows, so that nothing is known for longer. */
const KNOWN_MS = 3_600_000;

/** Queues that had their row when this process last looked; tenant and name as one key. */
export class KnownQueues {
  readonly #clock: Clock;
  readonly #knownAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(queue: string): boolean {
    const knownAt = this.#knownAt.get(queue);
    return knownAt !== undefined && this.#clock.monotonic() - knownAt < KNOWN_MS;
  }

  /** Only when it was not known: each time it is noted anew, the row must have been looked for. */
  add(queue: string): void {
    if (!this.has(queue)) this.#knownAt.set(queue, this.#clock.monotonic());
  }

  delete(queue: string): void {
    this.#knownAt.delete(queue);
  }
}
