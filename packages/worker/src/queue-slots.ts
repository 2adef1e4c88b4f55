import type { ResolvedQueue } from './queue-options.ts';

/** How many more jobs of each queue may be held here. Only queues with a bound of their own are counted. */
export class QueueSlots {
  readonly #free: Map<string, number>;
  /** A queue that was at its bound may be claimed again. */
  onReopened: (queue: string) => void = () => {};

  constructor(queues: readonly ResolvedQueue[]) {
    const bounded = queues.filter(({ concurrency }) => Number.isFinite(concurrency));
    this.#free = new Map(bounded.map(({ name, concurrency }) => [name, concurrency]));
  }

  get isBounded(): boolean {
    return this.#free.size > 0;
  }

  /** Infinite where the queue has no bound. */
  free(queue: string): number {
    return this.#free.get(queue) ?? Number.POSITIVE_INFINITY;
  }

  /** A job was claimed. It holds its slot while it waits and while it runs, not while its outcome is written. */
  take(queue: string): void {
    const free = this.#free.get(queue);
    if (free !== undefined) this.#free.set(queue, free - 1);
  }

  release(queue: string): void {
    const free = this.#free.get(queue);
    if (free === undefined) return;
    this.#free.set(queue, free + 1);
    if (free === 0) this.onReopened(queue);
  }
}
