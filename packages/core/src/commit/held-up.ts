import { systemClock } from '../clock.ts';
import { isLockHeld } from '../store/lock-held.ts';

/** So long a call waits for another transaction to end. */
const PATIENCE_MS = 30_000;
/** After a round in which no call got through. */
const PAUSE_MS = 50;

export interface HeldCall<In, Out> {
  item: In;
  resolve(answer: Out): void;
  reject(reason: unknown): void;
  /** Set when it is held up for the first time: it may come here more than once. */
  patientUntil?: number;
}

export interface HeldUpOptions<In, Out> {
  flush(items: readonly In[]): Promise<Out[]>;
  /** What a call needs for itself while it is written. */
  keysOf(item: In): Iterable<string>;
  /** Takes back calls whose key has just been got: they are written together again. */
  again(calls: readonly HeldCall<In, Out>[]): void;
  /** No call is held up any more. */
  onEmpty(): void;
}

/**
 * The calls that the open transaction of another caller holds up. In each round one call asks for each key, beside the
 * flushes, so that however many there are they keep one connection busy, and no other call shares their fate. As soon as
 * one gets through, those that wait for the same key go back to the flushes. A call that needs a key which one of them
 * waits for joins them at once.
 */
export class HeldUp<In, Out> {
  readonly #options: HeldUpOptions<In, Out>;
  readonly #calls = new Set<HeldCall<In, Out>>();
  readonly #byKey = new Map<string, Set<HeldCall<In, Out>>>();
  #isRunning = false;

  constructor(options: HeldUpOptions<In, Out>) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return !this.#isRunning;
  }

  concerns(item: In): boolean {
    if (this.#byKey.size === 0) return false;
    for (const key of this.#options.keysOf(item)) if (this.#byKey.has(key)) return true;
    return false;
  }

  add(call: HeldCall<In, Out>): void {
    call.patientUntil ??= performance.now() + PATIENCE_MS;
    this.#calls.add(call);
    for (const key of this.#options.keysOf(call.item)) {
      const same = this.#byKey.get(key) ?? new Set();
      this.#byKey.set(key, same.add(call));
    }
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#calls.size > 0) {
      const isAnyThrough = await this.#round();
      if (!isAnyThrough && this.#calls.size > 0) await systemClock.sleep(PAUSE_MS);
    }
    this.#isRunning = false;
    this.#options.onEmpty();
  }

  async #round(): Promise<boolean> {
    /** What the first call that needed a key has heard. */
    const refusals = new Map<string, unknown>();
    let isAnyThrough = false;
    for (const call of [...this.#calls]) {
      // It went back to the flushes with another one of its key.
      if (!this.#calls.has(call)) continue;
      const keys = [...this.#options.keysOf(call.item)];
      const known = keys.find((key) => refusals.has(key));
      const refusal = known === undefined ? await this.#try(call) : { error: refusals.get(known) };
      if (refusal === null) {
        isAnyThrough = true;
        this.#giveBack(keys);
      } else if (isLockHeld(refusal.error) && performance.now() < call.patientUntil!) {
        for (const key of keys) if (!refusals.has(key)) refusals.set(key, refusal.error);
      } else {
        this.#remove(call);
        call.reject(refusal.error);
      }
    }
    return isAnyThrough;
  }

  /** Null: it got through. */
  async #try(call: HeldCall<In, Out>): Promise<{ error: unknown } | null> {
    try {
      const [answer] = await this.#options.flush([call.item]);
      this.#remove(call);
      call.resolve(answer!);
      return null;
    } catch (error) {
      return { error };
    }
  }

  #giveBack(keys: readonly string[]): void {
    const freed = new Set(keys.flatMap((key) => [...(this.#byKey.get(key) ?? [])]));
    for (const call of freed) this.#remove(call);
    if (freed.size > 0) this.#options.again([...freed]);
  }

  #remove(call: HeldCall<In, Out>): void {
    this.#calls.delete(call);
    for (const key of this.#options.keysOf(call.item)) {
      const same = this.#byKey.get(key);
      same?.delete(call);
      if (same?.size === 0) this.#byKey.delete(key);
    }
  }
}
