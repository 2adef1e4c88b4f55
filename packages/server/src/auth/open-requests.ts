import { invalidField, WaybillError } from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import { type Identified, sameCaller } from './identified.ts';

/** Without a limit of its own, a caller may have requests under way on this part of the connections of a server. */
const PART_OF_CONNECTIONS = 2;

/**
 * How many requests of one caller may be under way at the same time, so that one key cannot take all connections of a server. A
 * long poll and a stream count for as long as they last. Several servers count each for themselves.
 */
export class OpenRequests {
  readonly #most: number | undefined;
  readonly #open = new Map<string, number>();

  /** Undefined: half of the connections of the server. */
  constructor(most: number | undefined) {
    if (most !== undefined && !(Number.isSafeInteger(most) && most >= 1))
      throw invalidField('openRequests', 'must be a whole number from 1 on.');
    this.#most = most;
  }

  /** Does the rest of a request, which is under way until its answer is over. Refused with `rate_limited`. */
  async hold(c: Ctx, caller: Identified, rest: () => Promise<void>): Promise<void> {
    const most = this.#most ?? halfOf(c.env?.mostConnections);
    const name = sameCaller(caller);
    const count = this.#open.get(name) ?? 0;
    if (count >= most) {
      c.set('retryAfter', '1');
      throw new WaybillError('rate_limited', `This caller has ${most} requests under way, and may not have more.`, {
        details: { open_requests: most },
        hint: 'Let some of them end first. Long polls and streams count for as long as they last.',
      });
    }
    this.#open.set(name, count + 1);
    const over = () => this.#leave(name);
    try {
      await rest();
    } finally {
      const delivered = c.env?.delivered?.();
      if (delivered) void delivered.then(over, over);
      else over();
    }
  }

  #leave(name: string): void {
    const count = this.#open.get(name) ?? 0;
    if (count > 1) this.#open.set(name, count - 1);
    else this.#open.delete(name);
  }
}

const halfOf = (connections = Number.POSITIVE_INFINITY): number =>
  Math.max(1, Math.floor(connections / PART_OF_CONNECTIONS));
