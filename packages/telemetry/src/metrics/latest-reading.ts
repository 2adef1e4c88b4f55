import type { Clock } from '@waybill/core';
import type { StoreReading } from './store-reading.ts';

/** How long what was read counts: a scrape every second must not count rows every second. */
const READ_EVERY_MS = 10_000;
/** A scrape waits for a reading no longer than this, and once: then it has what was read before. */
const WAIT_MS = 2_000;
/** A reading that has not ended by then never will, as far as anybody can know: another one is begun. */
const GIVE_UP_MS = 60_000;

interface Reading {
  begunAt: number;
  done: Promise<void>;
}

/** What was read of the store last, and how old it is. A store that hangs holds up no scrape. */
export class LatestReading {
  readonly #clock: Clock;
  readonly #newReader: () => () => Promise<StoreReading>;
  #read: () => Promise<StoreReading>;
  #begunAt = Number.NEGATIVE_INFINITY;
  #readAt: number;
  #last: StoreReading | undefined;
  #reading: Reading | undefined;

  constructor(clock: Clock, newReader: () => () => Promise<StoreReading>) {
    this.#clock = clock;
    this.#newReader = newReader;
    this.#read = newReader();
    this.#readAt = clock.monotonic();
  }

  /** Undefined: nothing was read yet. */
  get last(): StoreReading | undefined {
    return this.#last;
  }

  /** Since the last reading that did not fail; without one, since the begin. */
  get ageMs(): number {
    return Math.max(0, this.#clock.monotonic() - this.#readAt);
  }

  /** Reads again where it is time for it. */
  async refresh(): Promise<void> {
    const now = this.#clock.monotonic();
    if (this.#reading && now - this.#reading.begunAt >= GIVE_UP_MS) {
      this.#reading = undefined;
      // What hangs may still write down what it knows, so that the next one begins anew.
      this.#read = this.#newReader();
    }
    if (!this.#reading && now - this.#begunAt >= READ_EVERY_MS) this.#begin(now);
    const left = this.#reading ? WAIT_MS - (now - this.#reading.begunAt) : 0;
    if (this.#reading && left > 0) await this.#within(left, this.#reading.done);
  }

  #begin(now: number): void {
    this.#begunAt = now;
    const own: Reading = { begunAt: now, done: Promise.resolve() };
    const end = (found?: StoreReading) => {
      if (this.#reading !== own) return;
      this.#reading = undefined;
      if (found === undefined) return;
      this.#last = found;
      this.#readAt = this.#clock.monotonic();
    };
    this.#reading = own;
    // A store that is away shows in its own metrics, and in the age of what was read before.
    own.done = this.#read().then(end, () => end());
  }

  async #within(ms: number, work: Promise<void>): Promise<void> {
    const ended = new AbortController();
    await Promise.race([work, this.#clock.sleep(ms, ended.signal)]);
    ended.abort();
  }
}
