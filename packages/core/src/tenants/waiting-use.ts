import type { JobState } from '../job/job.ts';
import type { Store } from '../store/store.ts';

export const WAITING_STATES: readonly JobState[] = ['available', 'scheduled', 'retryable', 'pending'];

/** A count is never older than this, unless counting would then take more than a twentieth of the time. */
const LOOK_EVERY_MS = 1_000;
const REST_PER_LOOK = 20;
/** Where counting takes longer than this, only the two rules above hold. */
const QUICK_MS = 20;
/** An engine enqueues this part of the room without looking again, so that as many engines together stay within it. */
export const SHARE_OF_ROOM = 1 / 16;

/**
 * How many jobs of a tenant wait: what the store has counted, and what this engine has enqueued since. Jobs that were
 * started since are seen with the next look, and so are jobs that other engines have enqueued.
 */
export class WaitingUse {
  readonly #store: Pick<Store, 'count' | 'clock'>;
  readonly #tenant: string;
  #counted = 0;
  #since = 0;
  #nextLookAt = Number.NEGATIVE_INFINITY;
  #isSlow = false;
  #looking: Promise<void> | null = null;

  constructor(store: Pick<Store, 'count' | 'clock'>, tenant: string) {
    this.#store = store;
    this.#tenant = tenant;
  }

  get count(): number {
    return this.#counted + this.#since;
  }

  add(count: number): void {
    this.#since += count;
  }

  /** Before so many more are enqueued under this limit. */
  async refresh(limit: number, more: number): Promise<void> {
    if (this.#store.clock.monotonic() < this.#nextLookAt && this.#isEnough(limit, more)) return;
    this.#looking ??= this.#look(limit + 1).finally(() => {
      this.#looking = null;
    });
    await this.#looking;
  }

  /** Whether what is known is good enough to decide by. */
  #isEnough(limit: number, more: number): boolean {
    const isFull = this.count + more > limit;
    return isFull || this.#isSlow || this.#since + more <= (limit - this.#counted) * SHARE_OF_ROOM;
  }

  /** Counts no further than `most`. */
  async #look(most: number): Promise<void> {
    const { clock } = this.#store;
    const [before, began] = [this.#since, clock.monotonic()];
    this.#counted = await this.#store.count({ tenant: this.#tenant, states: WAITING_STATES }, { atMost: most });
    this.#since -= before;
    const took = clock.monotonic() - began;
    this.#isSlow = took > QUICK_MS;
    this.#nextLookAt = clock.monotonic() + Math.max(LOOK_EVERY_MS, took * REST_PER_LOOK);
  }
}
