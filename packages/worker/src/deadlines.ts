import { type Clock, Places, WaybillError } from '@waybill/core';

interface Waiting {
  place: number;
  until: number;
  fail(error: WaybillError): void;
}

/**
 * Many calls that must be answered within the same time, with one timer for all of them: none falls due before the
 * one that was made first. A timer and an abort signal for each would cost more than the calls themselves.
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
    const fail = () => this.#fail(this.#waiting.all(), NOBODY_WAITS);
    if (giveUp.aborted) fail();
    else giveUp.addEventListener('abort', fail, { once: true });
  }

  /** The call's answer; a refusal with `timeout` when none comes in time or nobody waits any longer. */
  within<T>(call: Promise<T>): Promise<T> {
    if (this.#giveUp.aborted) return Promise.race([call, Promise.reject(new WaybillError('timeout', NOBODY_WAITS))]);
    return new Promise((resolve, reject) => {
      const waiting = { place: -1, until: this.#clock.monotonic() + this.#ms, fail: reject };
      waiting.place = this.#waiting.add(waiting);
      call.then(
        (answer) => {
          this.#forget(waiting);
          resolve(answer);
        },
        (error: unknown) => {
          this.#forget(waiting);
          reject(error);
        },
      );
      if (!this.#watching) void this.#watch();
    });
  }

  async #watch(): Promise<void> {
    this.#watching = true;
    while (this.#waiting.size > 0) {
      const all = this.#waiting.all();
      const now = this.#clock.monotonic();
      const first = all.reduce((earliest, { until }) => Math.min(earliest, until), Number.POSITIVE_INFINITY);
      if (first > now) await this.#clock.sleep(first - now, this.#giveUp);
      else
        this.#fail(
          all.filter(({ until }) => until <= now),
          `No answer came within ${this.#ms} ms.`,
        );
    }
    this.#watching = false;
  }

  #fail(late: readonly Waiting[], message: string): void {
    for (const waiting of late) {
      this.#forget(waiting);
      waiting.fail(new WaybillError('timeout', message));
    }
  }

  /** The answer may come after the deadline, when somebody else has the place. */
  #forget(waiting: Waiting): void {
    if (this.#waiting.at(waiting.place) === waiting) this.#waiting.take(waiting.place);
  }
}

const NOBODY_WAITS = 'Nobody waits any longer.';
