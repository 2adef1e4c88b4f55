import { type Clock, Places, WaybillError } from '@waybill/core';

interface Waiting {
  until: number;
  fail(error: WaybillError): void;
}

/**
 * Many calls that must be answered within the same time, with one timer for all of them. A timer and an abort signal for each would cost more than the calls themselves.
 */
export class Deadlines {
  readonly #ms: number;
  readonly #clock: Clock;
  readonly #giveUp: AbortSignal;
  readonly #waiting = new Places<Waiting>();
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
      const waiting: Waiting = { until: this.#clock.monotonic() + this.#ms, fail: reject };
      const place = this.#waiting.add(waiting);
      const over = () => {
        if (this.#waiting.at(place) === waiting) this.#waiting.take(place);
      };
      waiting.fail = (error) => {
        over();
        reject(error);
      };
      call.then(
        (answer) => {
          over();
          resolve(answer);
        },
        (error: WaybillError) => waiting.fail(error),
      );
      if (!this.#watching) void this.#watch();
    });
  }

  async #watch(): Promise<void> {
    this.#watching = true;
    while (this.#waiting.size > 0) {
      const now = this.#clock.monotonic();
      let next = Number.POSITIVE_INFINITY;
      for (const { until, fail } of this.#waiting.all()) {
        if (until <= now) fail(new WaybillError('timeout', `No answer came within ${this.#ms} ms.`));
        else if (until < next) next = until;
      }
      if (next < Number.POSITIVE_INFINITY) await this.#clock.sleep(next - now, this.#giveUp);
    }
    this.#watching = false;
  }

  #failAll(): void {
    for (const { fail } of this.#waiting.all()) fail(nobodyWaits());
  }
}

const nobodyWaits = (): WaybillError => new WaybillError('timeout', 'Nobody waits any longer.');
