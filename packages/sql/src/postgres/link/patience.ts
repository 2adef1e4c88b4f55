import { systemClock } from '@waybill/core';

const FIRST_WAIT_MS = 25;
/** Short enough that work goes on soon after the server is back. */
const LONGEST_WAIT_MS = 1_000;

/** How long to wait before trying again, with jitter, so that many processes do not come back all at once. */
export function backoffMs(attempt: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** Waits and answers whether there is still time for another try. */
export class Patience {
  readonly #until: number;
  readonly #signal: AbortSignal;
  #attempt = 0;

  constructor(ms: number, signal: AbortSignal) {
    this.#until = performance.now() + ms;
    this.#signal = signal;
  }

  async wait(): Promise<boolean> {
    const left = this.#until - performance.now();
    if (left <= 0 || this.#signal.aborted) return false;
    await systemClock.sleep(Math.min(left, backoffMs(this.#attempt++)), this.#signal);
    return !this.#signal.aborted;
  }
}
