import { systemClock } from '../clock.ts';
import { isLockHeld } from '../store/lock-held.ts';

/** So long a call waits for another transaction to end. */
const PATIENCE_MS = 30_000;
/** After a round in which no call got through. */
const PAUSE_MS = 50;

interface Call<In, Out> {
  item: In;
  resolve(answer: Out): void;
  reject(reason: unknown): void;
}

interface HeldCall<In, Out> {
  call: Call<In, Out>;
  until: number;
}

export interface HeldUpOptions<In, Out> {
  flush(items: readonly In[]): Promise<Out[]>;
  /** What a call needs for itself while it is written. */
  keysOf(item: In): Iterable<string>;
  /** No call is held up any more. */
  onEmpty(): void;
}

/**
 * The calls that the open transaction of another caller holds up. They are tried one after the other, beside the flushes,
 * so that however many there are they keep one connection busy, and no other call shares their fate. A call that needs
 * a key which one of them waits for joins them at once.
 */
export class HeldUp<In, Out> {
  readonly #options: HeldUpOptions<In, Out>;
  readonly #calls: HeldCall<In, Out>[] = [];
  /** The keys of the calls here, with how many need each. */
  readonly #keys = new Map<string, number>();
  #isRunning = false;

  constructor(options: HeldUpOptions<In, Out>) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return !this.#isRunning;
  }

  concerns(item: In): boolean {
    if (this.#keys.size === 0) return false;
    for (const key of this.#options.keysOf(item)) if (this.#keys.has(key)) return true;
    return false;
  }

  add(call: Call<In, Out>): void {
    this.#count(call.item, 1);
    this.#calls.push({ call, until: performance.now() + PATIENCE_MS });
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#calls.length > 0) {
      let through = 0;
      for (const held of this.#calls.splice(0)) {
        if (await this.#try(held)) through += 1;
        else this.#calls.push(held);
      }
      if (through === 0) await systemClock.sleep(PAUSE_MS);
    }
    this.#isRunning = false;
    this.#options.onEmpty();
  }

  /** Answers whether the call is over. */
  async #try({ call, until }: HeldCall<In, Out>): Promise<boolean> {
    try {
      const [answer] = await this.#options.flush([call.item]);
      call.resolve(answer!);
    } catch (error) {
      if (isLockHeld(error) && performance.now() < until) return false;
      call.reject(error);
    }
    this.#count(call.item, -1);
    return true;
  }

  #count(item: In, by: 1 | -1): void {
    for (const key of this.#options.keysOf(item)) {
      const count = (this.#keys.get(key) ?? 0) + by;
      if (count === 0) this.#keys.delete(key);
      else this.#keys.set(key, count);
    }
  }
}
