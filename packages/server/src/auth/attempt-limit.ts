import { type Clock, WaybillError } from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import { networkOf } from './client-network.ts';

/** Failed attempts to log in that one address has in a window. */
export const MOST_FAILURES = 10;
const WINDOW_MS = 60_000;
/** Addresses that are remembered. The oldest are forgotten first. */
const MOST_ADDRESSES = 10_000;

interface Failures {
  count: number;
  /** When the window ends. */
  until: number;
}

/** Bounds how many keys one address can try. Good keys are not counted. */
export class AttemptLimit {
  readonly #clock: Clock;
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counted as failed until it is taken back, so that many at once are bounded too. */
  begin(c: Ctx): void {
    const address = addressOf(c);
    const known = this.#current(address) ?? { count: 0, until: this.#clock.monotonic() + WINDOW_MS };
    if (known.count >= MOST_FAILURES) {
      const seconds = Math.max(1, Math.ceil((known.until - this.#clock.monotonic()) / 1_000));
      c.set('retryAfter', String(seconds));
      throw new WaybillError('rate_limited', 'Too many keys were tried from this address.', {
        hint: `Wait for ${seconds} seconds.`,
      });
    }
    known.count += 1;
    this.#failures.set(address, known);
    if (this.#failures.size > MOST_ADDRESSES) this.#failures.delete(this.#failures.keys().next().value!);
  }

  /** It was no wrong key. */
  takeBack(c: Ctx): void {
    const known = this.#current(addressOf(c));
    if (known) known.count -= 1;
  }

  #current(address: string): Failures | undefined {
    const known = this.#failures.get(address);
    if (known === undefined || this.#clock.monotonic() < known.until) return known;
    this.#failures.delete(address);
    return undefined;
  }
}

const addressOf = (c: Ctx): string => networkOf(c.env?.clientAddress ?? '');
