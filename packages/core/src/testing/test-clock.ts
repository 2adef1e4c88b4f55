import type { Clock } from '../clock.ts';

/** Where test time begins. A round number, so that times in failure messages can be read. */
export const TEST_EPOCH = Date.UTC(2030, 0, 1);

interface Sleeper {
  wakeAt: number;
  wake(): void;
}

/** Lets everything that was waiting for a promise go on, however long the chain. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A clock that stands still until a test moves it. */
export class TestClock implements Clock {
  #now: number;
  #monotonic = 0;
  readonly #sleepers = new Set<Sleeper>();
  #watchers: { count: number; tell(): void }[] = [];

  constructor(start = TEST_EPOCH) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  /** How many sleep right now; zero at the end of a test means that nothing was left running. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0 || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { wakeAt: this.#monotonic + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
      this.#tellWatchers();
    });
  }

  /** Resolves once at least `count` sleep: the code under test has come to rest. */
  whenSleeping(count = 1): Promise<void> {
    if (this.#sleepers.size >= count) return Promise.resolve();
    return new Promise((tell) => this.#watchers.push({ count, tell }));
  }

  /**
   * Lets everybody come to rest, and then time pass. Sleepers wake in the order of their times, each seeing its own, and
   * act before the next one.
   */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`Time passes forwards only, not by ${ms} ms; jump() sets the wall clock.`);
    const target = this.#monotonic + ms;
    // Whoever is on the way to bed shall lie there before time passes, not miss the hour.
    await settled();
    for (let next = this.#firstUntil(target); next; next = this.#firstUntil(target)) {
      this.#moveTo(next.wakeAt);
      next.wake();
      await settled();
    }
    this.#moveTo(target);
  }

  /** Lets time pass until the wall clock shows `moment`. */
  async set(moment: number): Promise<void> {
    await this.advance(moment - this.#now);
  }

  /** Somebody sets the wall clock, forwards or backwards: no time passes and nobody wakes. */
  jump(ms: number): void {
    this.#now += ms;
  }

  #firstUntil(target: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (sleeper.wakeAt <= target && (!first || sleeper.wakeAt < first.wakeAt)) first = sleeper;
    }
    return first;
  }

  #moveTo(monotonic: number): void {
    const passed = Math.max(0, monotonic - this.#monotonic);
    this.#monotonic += passed;
    this.#now += passed;
  }

  #tellWatchers(): void {
    const met = this.#watchers.filter(({ count }) => this.#sleepers.size >= count);
    this.#watchers = this.#watchers.filter((watcher) => !met.includes(watcher));
    for (const { tell } of met) tell();
  }
}
