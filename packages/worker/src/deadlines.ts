import { type Clock, Roster, WaybillError } from '@waybill/core';

interface Waiting {
  until: number;
  fail(error: WaybillError): void;
}

/**
 * Many calls that must be answered within the same time, with one timer for all of them: they fall due in the order in
 * which they were made. A timer and an abort signal for each would cost more than the calls themselves.
 */
export class Deadlines {
  readonly #ms: number;
  readonly #clock: Clock;
  readonly #giveUp: AbortSignal;
  readonly #waiting = new Roster<number, Waiting>();
  #calls = 0;
  #watching = false;

  constructor(ms: number, clock: Clock, giveUp: AbortSignal) {
    this.#ms = ms;
    this.#clock = clock;
    this.#giveUp = giveUp;
    const fail = () => this.#failAll();
    if (giveUp.aborted) fail();
    else giveUp.addEventListener('abort', fail, { once: true });
  }

  /** The call's answer; a refusal with `timeout` when none comes in time or nobody waits any longer. */
  within<T>(call: Promise<T>): Promise<T> {
    if (this.#giveUp.aborted) return Promise.race([call, Promise.reject(nobodyWaits())]);
    return new Promise((resolve, reject) => {
      const number = this.#calls++;
      this.#waiting.set(number, { until: this.#clock.monotonic() + this.#ms, fail: reject });
      call.then(
        (answer) => {
          this.#waiting.delete(number);
          resolve(answer);
        },
        (error: unknown) => {
          this.#waiting.delete(number);
          reject(error);
        },
      );
      if (!this.#watching) void this.#watch();
    });
  }

  async #watch(): Promise<void> {
    this.#watching = true;
    for (let first = this.#waiting.oldest(); first !== undefined; first = this.#waiting.oldest()) {
      const { until, fail } = this.#waiting.get(first)!;
      const left = until - this.#clock.monotonic();
      if (left > 0) await this.#clock.sleep(left, this.#giveUp);
      else if (this.#waiting.delete(first)) fail(new WaybillError('timeout', `No answer came within ${this.#ms} ms.`));
    }
    this.#watching = false;
  }

  #failAll(): void {
    for (const { fail } of this.#waiting.all()) fail(nobodyWaits());
    this.#waiting.clear();
  }
}

const nobodyWaits = (): WaybillError => new WaybillError('timeout', 'Nobody waits any longer.');
