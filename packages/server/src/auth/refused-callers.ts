import type { Clock, Logger } from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import { networkOf } from './client-network.ts';
import { REFUSAL_REASONS, type WhyRefused } from './why-refused.ts';

const WINDOW_MS = 60_000;
/** Addresses that are remembered. The oldest are forgotten first. */
export const MOST_ADDRESSES = 1_000;
/** Keys of one address that are told apart in a window: callers may make up any number of ids. */
export const MOST_OF_ADDRESS = 5;
/** Lines in a window, from however many addresses. */
export const MOST_LINES = 100;

interface Refused {
  until: number;
  /** How often each was refused in this window. */
  counts: Map<string, number>;
  before: ReadonlyMap<string, number> | undefined;
}

/**
 * Tells the log which callers are refused with 401 and why: one line in a minute for each address and key, with how often
 * it was refused since the line before. Why is found out for these lines alone, so that refusing stays cheap.
 */
export class RefusedCallers {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #known = new Map<string, Refused>();
  #window = { until: Number.NEGATIVE_INFINITY, lines: 0 };

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** `shown` is no secret: the id of a key. Undefined: nothing was shown. */
  async note(c: Ctx, shown: string | undefined, why: () => Promise<WhyRefused>): Promise<void> {
    const address = c.env?.clientAddress;
    const times = this.#count(networkOf(address ?? ''), shown ?? '');
    if (times === undefined || !this.#hasRoom()) return;
    const requestId = c.get('requestId');
    const { reason, key } = await why().catch(() => ({ reason: undefined, key: undefined }));
    const facts = {
      ...(address !== undefined && { address }),
      ...(key !== undefined && { key }),
      ...{ reason: reason ?? 'unknown', times, request_id: requestId },
    };
    const text = reason === undefined ? 'why cannot be looked up at this moment' : REFUSAL_REASONS[reason];
    this.#logger.warn(facts, `Refused a caller with 401: ${text}.`);
  }

  /** How often it was refused since it was last told; undefined: it is not to be told now. */
  #count(network: string, shown: string): number | undefined {
    const now = this.#clock.monotonic();
    let known = this.#known.get(network);
    if (known === undefined || known.until <= now) {
      known = { until: now + WINDOW_MS, counts: new Map(), before: known?.counts };
      // The newest come last, so that the first is the oldest.
      this.#known.delete(network);
      this.#known.set(network, known);
      if (this.#known.size > MOST_ADDRESSES) this.#known.delete(this.#known.keys().next().value!);
    }
    const { counts, before } = known;
    const name = counts.has(shown) || counts.size < MOST_OF_ADDRESS ? shown : 'others';
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    // The first of the window before was told.
    return count > 0 ? undefined : Math.max(0, (before?.get(name) ?? 0) - 1) + 1;
  }

  #hasRoom(): boolean {
    const now = this.#clock.monotonic();
    if (this.#window.until <= now) this.#window = { until: now + WINDOW_MS, lines: 0 };
    this.#window.lines += 1;
    if (this.#window.lines === MOST_LINES + 1)
      this.#logger.warn({ lines: MOST_LINES }, 'More callers are refused with 401 than are told in this minute.');
    return this.#window.lines <= MOST_LINES;
  }
}
