import type { Clock, Delivery, Logger } from '@waybill/core';
import { readReceipt } from './message.ts';
import type { Source } from './source.ts';

/** Somebody who waits for a first message from any of several queues. */
export interface Waiter {
  room: number;
  leaseMs: number;
  /** Of the monotonic clock. */
  until: number;
  take(deliveries: Delivery[]): void;
}

interface LongPollParts {
  clock: Clock;
  logger: Logger;
  closing: AbortSignal;
}

/** After a failed poll, so that SQS in trouble is not hammered. */
const AFTER_ERROR_MS = 1_000;

/**
 * One long poll at a time on one queue, shared by all who wait for it. It is never broken off when they leave: SQS may
 * have chosen messages already, and these would be hidden from everybody until their time is over. What comes when
 * nobody waits any more is given back at once.
 */
export class LongPoll {
  readonly source: Source;
  readonly #parts: LongPollParts;
  readonly #waiting = new Set<Waiter>();
  #isPolling = false;

  constructor(source: Source, parts: LongPollParts) {
    this.source = source;
    this.#parts = parts;
  }

  join(waiter: Waiter): void {
    this.#waiting.add(waiter);
    if (!this.#isPolling) void this.#poll();
  }

  leave(waiter: Waiter): void {
    this.#waiting.delete(waiter);
  }

  async #poll(): Promise<void> {
    const { clock, logger, closing } = this.#parts;
    this.#isPolling = true;
    while (this.#waiting.size > 0 && !closing.aborted) {
      const waiting = [...this.#waiting];
      const room = waiting.reduce((sum, waiter) => sum + waiter.room, 0);
      const leaseMs = Math.max(...waiting.map((waiter) => waiter.leaseMs));
      const waitMs = Math.max(...waiting.map(({ until }) => until)) - clock.monotonic();
      try {
        await this.#deal(await this.source.receive(room, leaseMs, Math.max(0, waitMs), closing));
      } catch (error) {
        logger.warn({ err: error, queue: this.source.name }, 'A queue could not be waited for.');
        await clock.sleep(AFTER_ERROR_MS, closing);
      }
    }
    this.#isPolling = false;
  }

  async #deal(deliveries: Delivery[]): Promise<void> {
    let left = deliveries;
    while (left.length > 0) {
      const [waiter] = this.#waiting;
      if (!waiter) break;
      this.#waiting.delete(waiter);
      waiter.take(left.slice(0, waiter.room));
      left = left.slice(waiter.room);
    }
    await giveBack(this.source, left);
  }
}

/** Nobody has room for these. If it fails they come back by themselves, only later. */
export async function giveBack(source: Source, deliveries: readonly Delivery[]): Promise<void> {
  await Promise.allSettled(deliveries.map(({ receipt }) => source.calls.hide(readReceipt(receipt).handle, 0)));
}
