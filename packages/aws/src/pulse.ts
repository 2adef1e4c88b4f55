import type { Clock } from '@waybill/core';

/** Load balancers ask often and from many sides; every look costs a request. */
const GOOD_FOR_MS = 3_000;

/** Whether somebody answers, asked at most once in a few seconds. */
export class Pulse {
  readonly #clock: Clock;
  readonly #look: () => Promise<void>;
  #last: { at: number; answer: Promise<void> } | undefined;

  constructor(clock: Clock, look: () => Promise<void>) {
    this.#clock = clock;
    this.#look = look;
  }

  /** Rejects with what is wrong. */
  feel(): Promise<void> {
    const now = this.#clock.monotonic();
    if (this.#last === undefined || now - this.#last.at >= GOOD_FOR_MS) {
      this.#last = { at: now, answer: this.#look() };
    }
    return this.#last.answer;
  }
}
