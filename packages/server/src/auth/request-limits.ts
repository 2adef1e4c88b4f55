import { type Clock, invalidField, WaybillError } from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import { type Identified, sameCaller } from './identified.ts';

/** Callers that are remembered. One that is forgotten begins with a full bucket. */
const MOST_CALLERS = 10_000;
const MINUTE_MS = 60_000;

interface Bucket {
  /** Requests that may come at once; not always a whole number. */
  left: number;
  at: number;
}

/**
 * How many requests a caller may send in a minute: a token bucket for each, in the memory of this server. A long poll and
 * a stream count once. Several servers count each for themselves.
 */
export class RequestLimits {
  readonly #perMinute: number | undefined;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  /** `perMinute`: for callers that have no limit of their own. */
  constructor(perMinute: number | undefined, clock: Clock) {
    if (perMinute !== undefined && !(Number.isSafeInteger(perMinute) && perMinute >= 1))
      throw invalidField('requestsPerMinute', 'must be a whole number from 1 on.');
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** Counts a request, tells the caller in headers what is left, and refuses it with `rate_limited` when nothing is. */
  count(c: Ctx, who: Identified): void {
    const { requestsPerMinute = this.#perMinute } = who;
    if (requestsPerMinute === undefined) return;
    const now = this.#clock.monotonic();
    const caller = sameCaller(who);
    const bucket = this.#buckets.get(caller) ?? { left: requestsPerMinute, at: now };
    const refilled = ((now - bucket.at) / MINUTE_MS) * requestsPerMinute;
    const left = Math.min(requestsPerMinute, bucket.left + refilled);
    const isAllowed = left >= 1;
    this.#remember(caller, { left: isAllowed ? left - 1 : left, at: now });
    const msPerRequest = MINUTE_MS / requestsPerMinute;
    const remaining = Math.floor(isAllowed ? left - 1 : 0);
    const secondsUntilFull = Math.ceil(((requestsPerMinute - (isAllowed ? left - 1 : left)) * msPerRequest) / 1_000);
    tell(c, requestsPerMinute, remaining, secondsUntilFull);
    if (isAllowed) return;
    const seconds = Math.max(1, Math.ceil(((1 - left) * msPerRequest) / 1_000));
    c.set('retryAfter', String(seconds));
    throw new WaybillError('rate_limited', `This caller may send ${requestsPerMinute} requests in a minute.`, {
      details: { requests_per_minute: requestsPerMinute, retry_after_seconds: seconds },
      hint: `Wait for ${seconds} seconds, and send fewer requests.`,
    });
  }

  #remember(caller: string, bucket: Bucket): void {
    // The newest come last, so that the first is the one that was not seen for the longest.
    this.#buckets.delete(caller);
    this.#buckets.set(caller, bucket);
    if (this.#buckets.size > MOST_CALLERS) this.#buckets.delete(this.#buckets.keys().next().value!);
  }
}

/** `Reset`: seconds until all of the limit is there again. Under both of the names that clients look for. */
function tell(c: Ctx, limit: number, remaining: number, reset: number): void {
  for (const prefix of ['RateLimit-', 'X-RateLimit-']) {
    c.header(`${prefix}Limit`, String(limit));
    c.header(`${prefix}Remaining`, String(remaining));
    c.header(`${prefix}Reset`, String(reset));
  }
}
