import type { Clock } from '../../clock.ts';

/** The clock of one server, which somebody may set while those of the others stay right. */
export class SkewedClock implements Clock {
  readonly #true: Clock;
  #skew = 0;

  constructor(right: Clock) {
    this.#true = right;
  }

  jump(ms: number): void {
    this.#skew += ms;
  }

  now(): number {
    return this.#true.now() + this.#skew;
  }

  monotonic(): number {
    return this.#true.monotonic();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#true.sleep(ms, signal);
  }
}
