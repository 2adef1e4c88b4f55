import type { PruneFailure } from './prune.ts';

/**
 * The moment of the last use of a limit is written at most this often, so that its index stays as it is in between. A
 * limit is therefore kept this much longer, and so is the counter of a subject, whose last event may be in a later segment.
 */
export const USE_NOTED_EVERY_MS = 3_600_000;

/** One call of prune: how many rows it may still remove, and what failed in it. */
export class PruneSlice {
  readonly #isShared: (error: unknown) => boolean;
  readonly #failed: PruneFailure[] = [];
  #left: number;

  /** An error that `isShared` concerns all parts: the store does not answer, for example. It ends the call. */
  constructor(limit: number, isShared: (error: unknown) => boolean) {
    this.#left = limit;
    this.#isShared = isShared;
  }

  /** Whether the limit has nothing left, so that later parts were not looked at. */
  get isFull(): boolean {
    return this.#left === 0;
  }

  get failed(): { failed?: readonly PruneFailure[] } {
    return this.#failed.length === 0 ? {} : { failed: this.#failed };
  }

  /** Runs one part of the pruning with what the limit has left. A part that fails keeps no other from its turn. */
  take(part: string, remove: (limit: number) => number): number {
    try {
      return this.#count(remove(this.#left));
    } catch (error) {
      return this.#fail(part, error);
    }
  }

  async takeLater(part: string, remove: (limit: number) => Promise<number>): Promise<number> {
    try {
      return this.#count(await remove(this.#left));
    } catch (error) {
      return this.#fail(part, error);
    }
  }

  #count(removed: number): number {
    this.#left = Math.max(0, this.#left - removed);
    return removed;
  }

  #fail(part: string, error: unknown): number {
    if (this.#isShared(error)) throw error;
    this.#failed.push({ part, reason: reasonOf(error) });
    return 0;
  }
}

/** With the cause: a store wraps what its database says. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
