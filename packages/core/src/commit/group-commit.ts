import { WaybillError } from '../errors.ts';
import { isLockHeld } from '../store/lock-held.ts';
import { apart } from './apart.ts';
import { type HeldCall, HeldUp } from './held-up.ts';

export interface GroupCommitOptions<In, Out> {
  /** Runs one batch; answers per item, in order. May be called again with items whose outcome is unknown. */
  flush(items: readonly In[]): Promise<Out[]>;
  maxItems: number;
  /** Flushes that may be under way at once. */
  parallel: number;
  /**
   * Whether a flush starts before whatever else this turn has to do, and not on the next turn: for calls that hardly ever
   * come together, and whose answer should be on its way meanwhile. @defaultValue false
   */
  eager?: boolean;
  /** Rough size of an item in bytes; batches stay under `maxBytes` unless one item alone is larger. */
  sizeOf?: (item: In) => number;
  maxBytes?: number;
  /**
   * What an item needs for itself while it is written. Given where another transaction may hold that for long: then the
   * items that it holds up wait by themselves, and the others of their batch do not.
   */
  keysOf?: (item: In) => Iterable<string>;
}

type Waiting<In, Out> = HeldCall<In, Out>;

const DEFAULT_MAX_BYTES = 4 * 1024 * 1024;

/** How often a batch is tried again when the store says that it is unavailable right now. */
const TRIES = 3;
/** No try begins later than this after the first: a flush that failed slowly has had its store's own patience. */
const LATEST_TRY_MS = 1_000;

/**
 * Coalesces concurrent calls: a flush starts when this turn's code has run, or on the next turn of the event loop, and
 * calls that arrive while it runs wait for the next one. No timers, so a lone call goes at once and a crowd shares one
 * transaction.
 */
export class GroupCommit<In, Out> {
  readonly #options: GroupCommitOptions<In, Out>;
  readonly #queue: Waiting<In, Out>[] = [];
  readonly #heldUp: HeldUp<In, Out> | null;
  #running = 0;
  #scheduled = false;
  #isTurnUsed = false;
  #idle: (() => void)[] = [];

  constructor(options: GroupCommitOptions<In, Out>) {
    this.#options = options;
    const { keysOf } = options;
    const flush = (items: readonly In[]) => this.#tryFlush([...items]);
    const again = (calls: readonly Waiting<In, Out>[]) => {
      this.#queue.push(...calls);
      this.#schedule();
    };
    this.#heldUp = keysOf ? new HeldUp({ flush, keysOf, again, onEmpty: () => this.#tellIdle() }) : null;
  }

  run(item: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      if (this.#heldUp?.concerns(item)) {
        this.#heldUp.add({ item, resolve, reject });
        return;
      }
      this.#queue.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves once nothing is waiting or under way. */
  idle(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #isIdle(): boolean {
    return this.#queue.length === 0 && this.#running === 0 && (this.#heldUp?.isEmpty ?? true);
  }

  #tellIdle(): void {
    if (this.#isIdle()) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#options.parallel) return;
    this.#scheduled = true;
    const start = () => {
      this.#scheduled = false;
      void this.#flushNext();
    };
    if (this.#options.eager) queueMicrotask(start);
    // A lone call is waited for, so it goes as soon as this turn's code has run; beside another there is time to gather.
    else if (this.#running === 0 && !this.#isTurnUsed) this.#startInThisTurn(start);
    else setImmediate(start);
  }

  /** Once in each turn: a store that answers at once would else leave none to timers and sockets. */
  #startInThisTurn(start: () => void): void {
    this.#isTurnUsed = true;
    setImmediate(() => {
      this.#isTurnUsed = false;
    });
    process.nextTick(start);
  }

  async #flushNext(): Promise<void> {
    const batch = this.#take();
    if (batch.length === 0) return;
    this.#running += 1;
    if (this.#queue.length > 0) this.#schedule();
    await this.#execute(batch);
    this.#running -= 1;
    if (this.#queue.length > 0) this.#schedule();
    this.#tellIdle();
  }

  #take(): Waiting<In, Out>[] {
    const { maxItems, sizeOf, maxBytes = DEFAULT_MAX_BYTES } = this.#options;
    // One alone goes whatever its size, and a call of a thousand jobs is nearly always alone.
    if (this.#queue.length === 1) return this.#queue.splice(0, 1);
    let bytes = 0;
    let count = 0;
    while (count < this.#queue.length && count < maxItems) {
      bytes += sizeOf ? sizeOf(this.#queue[count]!.item) : 0;
      if (count > 0 && bytes > maxBytes) break;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  /** An unexpected error halves the batch until the item that causes it fails alone. */
  #execute(batch: readonly Waiting<In, Out>[]): Promise<void> {
    const run = async (part: readonly Waiting<In, Out>[]): Promise<void> => {
      const answers = await this.#tryFlush(part.map(({ item }) => item));
      part.forEach(({ resolve }, index) => {
        resolve(answers[index]!);
      });
    };
    const onFailed = (waiting: Waiting<In, Out>, error: unknown): void => {
      if (this.#heldUp && isLockHeld(error)) this.#heldUp.add(waiting);
      else waiting.reject(error);
    };
    const isShared = (error: unknown) => isTransient(error) && !isLockHeld(error);
    if (!this.#heldUp || batch.length === 1) return apart(batch, run, { isShared, onFailed });
    return this.#byKey(batch, run, (part) => apart(part, run, { isShared, onFailed }));
  }

  /** A lock that is held concerns all items of its key: they wait together, and the others are written by themselves. */
  async #byKey(
    batch: readonly Waiting<In, Out>[],
    run: (part: readonly Waiting<In, Out>[]) => Promise<void>,
    otherwise: (part: readonly Waiting<In, Out>[]) => Promise<void>,
  ): Promise<void> {
    try {
      await run(batch);
    } catch (error) {
      if (!isLockHeld(error)) return otherwise(batch);
      const nameOf = ({ item }: Waiting<In, Out>) => [...this.#options.keysOf!(item)].sort().join('\n\n');
      for (const same of Map.groupBy(batch, nameOf).values()) {
        // By now it may be known of one of its keys that it is held.
        if (this.#heldUp!.concerns(same[0]!.item)) {
          for (const waiting of same) this.#heldUp!.add(waiting);
          continue;
        }
        await run(same).catch((reason: unknown) => {
          if (!isLockHeld(reason)) return otherwise(same);
          for (const waiting of same) this.#heldUp!.add(waiting);
        });
      }
    }
  }

  /** Whether the failed try took effect is unknown, but every operation of a store may be repeated. */
  async #tryFlush(items: In[]): Promise<Out[]> {
    const begun = performance.now();
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#options.flush(items);
      } catch (error) {
        const again = (isTransient(error) || items.length === 1) && !isLockHeld(error);
        if (!again || tries >= TRIES || performance.now() - begun > LATEST_TRY_MS) throw error;
      }
    }
  }
}

const isTransient = (error: unknown): boolean => error instanceof WaybillError && error.retryable;
