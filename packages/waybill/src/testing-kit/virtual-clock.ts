import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, systemClock } from '@waybill/core';

interface Sleeper {
  wakeAt: number;
  wake(): void;
}

/** The engine's upkeep has two loops: one for due rows, one for what is too old. */
const ENGINE_LOOPS = 2;

/**
 * Virtual time, in which a sleep also ends when as much real time has passed: for those who wait beside a test that does not
 * move its clock.
 */
export const orRealTime = (clock: Clock): Clock => ({
  now: () => clock.now(),
  monotonic: () => clock.monotonic(),
  sleep: async (ms, signal) => {
    const over = new AbortController();
    const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
    await Promise.race([clock.sleep(ms, either), systemClock.sleep(ms, either)]);
    over.abort();
  },
});

/** A clock that stands still until a test moves it, and knows when the engine has done all that was due. */
export class VirtualClock implements Clock {
  #now: number;
  #passed = 0;
  readonly #sleepers = new Set<Sleeper>();
  /** Sleepers of the engine's own loops. Others, like a reader of events, say nothing about its rest. */
  #resting = 0;
  readonly #engine = new AsyncLocalStorage<true>();
  #whenRested: (() => void)[] = [];

  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#passed;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0 || signal?.aborted) return Promise.resolve();
    const ofEngine = this.#engine.getStore() === true ? 1 : 0;
    return new Promise((resolve) => {
      const wake = () => {
        if (!this.#sleepers.delete(sleeper)) return;
        this.#resting -= ofEngine;
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { wakeAt: this.#passed + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
      this.#resting += ofEngine;
      if (this.#resting === ENGINE_LOOPS) for (const tell of this.#whenRested.splice(0)) tell();
    });
  }

  /** Whatever is begun in `start` belongs to the engine. */
  forEngine<T>(start: () => T): T {
    return this.#engine.run(true, start);
  }

  /** Resolves when the engine has nothing to do at this moment. */
  atRest(): Promise<void> {
    if (this.#resting === ENGINE_LOOPS) return Promise.resolve();
    return new Promise((resolve) => this.#whenRested.push(resolve));
  }

  /** Lets time pass; everything that falls due on the way is done at its own time, one after the other. */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`Time passes forwards only, not by ${ms} ms.`);
    const target = this.#passed + ms;
    await this.atRest();
    for (let next = this.#firstUntil(target); next; next = this.#firstUntil(target)) {
      this.#moveTo(next.wakeAt);
      next.wake();
      // What the sleeper does at once belongs to this moment too.
      await new Promise((resolve) => setImmediate(resolve));
      await this.atRest();
    }
    this.#moveTo(target);
  }

  #firstUntil(target: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (sleeper.wakeAt <= target && (!first || sleeper.wakeAt < first.wakeAt)) first = sleeper;
    }
    return first;
  }

  #moveTo(moment: number): void {
    const ms = Math.max(0, moment - this.#passed);
    this.#passed += ms;
    this.#now += ms;
  }
}
