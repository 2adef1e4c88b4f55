import type { Clock } from '../../clock.ts';
import type { ReceiveRequest } from '../transport.ts';
import type { Waiter } from './wake-ups.ts';

/** More different claims at a time than any process makes. */
const MOST_KEPT = 1_000;

interface Kept {
  waiter: Waiter;
  until: number;
}

/**
 * Queues that gave a claim all they had. As long as nobody wakes those who wait for them, the next claim would be in vain,
 * so it begins by waiting. Each kept wait began before its claim looked, so that it has missed nothing.
 */
export class UsedUp {
  readonly #clock: Clock;
  readonly #keptMs: number;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock, keptMs: number) {
    this.#clock = clock;
    this.#keptMs = keptMs;
  }

  /** The wait that such a claim has left; nothing where it was woken, or where it is time to look anyway. */
  take(request: ReceiveRequest): Waiter | undefined {
    const key = keyOf(request);
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#kept.delete(key);
    if (!kept.waiter.isWoken && this.#clock.monotonic() < kept.until) return kept.waiter;
    kept.waiter.cancel();
    return undefined;
  }

  leave(request: ReceiveRequest, waiter: Waiter): void {
    const key = keyOf(request);
    this.#kept.get(key)?.waiter.cancel();
    this.#kept.set(key, { waiter, until: this.#clock.monotonic() + this.#keptMs });
    if (this.#kept.size <= MOST_KEPT) return;
    const [oldest] = this.#kept.keys();
    this.#kept.get(oldest!)!.waiter.cancel();
    this.#kept.delete(oldest!);
  }
}

const keyOf = ({ tenant, queues }: ReceiveRequest): string => `${tenant}\n${queues.join('\n')}`;
