import type { Clock } from '../clock.ts';
import { backoffMs, LONGEST_BACKOFF_MS } from './backoff.ts';
import type { DeliveryWindow, Pending } from './delivery-window.ts';
import type { Sink, SinkRefusal } from './sink.ts';

/** Deliveries to one sink at the same time, where it says nothing. */
const PARALLEL = 8;
/** Lines that a sink fails on without a success in between, before it counts as down. */
const DOWN_AFTER = 8;
/** Between two tries of a sink that takes nothing at all. */
const LONGEST_REST_MS = 60_000;
/** A receiver may ask for this much at most. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * When what is tried. An event that fails waits, longer each time, and only the events behind it on its line wait with
 * it. A sink that fails on several lines, without a success in between, counts as down: from then on one event at a time is tried, with pauses, until one succeeds. An event that failed before others were taken
 * and fails again is refused for what it is, which says nothing about the sink.
 */
export class SinkHealth {
  readonly #clock: Clock;
  readonly #sinkId: string;
  /** Deliveries at the same time. */
  readonly parallel: number;
  readonly #failedSince = new Set<string>();
  #restUntil = 0;
  #rests = 0;
  /** Deliveries that succeeded. */
  #taken = 0;

  constructor({ id, parallel = PARALLEL }: Pick<Sink, 'id' | 'parallel'>, clock: Clock) {
    this.#sinkId = id;
    this.parallel = parallel;
    this.#clock = clock;
  }

  get isDown(): boolean {
    return this.#failedSince.size >= DOWN_AFTER;
  }

  /** Whether the receiver has asked for time, or is down: then nothing that it refuses is tried again. */
  get isResting(): boolean {
    return this.isDown || this.#clock.monotonic() < this.#restUntil;
  }

  get restUntil(): number {
    return this.#restUntil;
  }

  /** Whether others were taken since it failed for the first time. */
  isRefused({ takenBefore }: Pending): boolean {
    return takenBefore !== null && this.#taken > takenBefore;
  }

  /** What may be tried now, with so many under way. */
  next(window: DeliveryWindow, inFlight: number): Pending | undefined {
    const now = this.#clock.monotonic();
    if (inFlight >= (this.isDown ? 1 : this.parallel) || now < this.#restUntil) return undefined;
    let best: Pending | undefined;
    for (const one of window.waiting()) {
      if (!this.isDown && one.nextTryAt <= now) return one;
      // Rather one that was never tried: the others may fail because of what they are. From both ends in turn, so that
      // a row of events that the receiver does not want does not look like a receiver that is down.
      const isNewest = this.#rests % 2 === 0 && one.failures === best?.failures;
      if (this.isDown && (best === undefined || one.failures < best.failures || isNewest)) best = one;
    }
    return best;
  }

  /** When one of these is tried again at the soonest. A sink that is down is tried after its rest, whatever they wait for. */
  nextTryAt(failing: readonly Pick<Pending, 'nextTryAt'>[]): number {
    const soonest = this.isDown ? 0 : Math.min(...failing.map(({ nextTryAt }) => nextTryAt));
    return Math.max(soonest, this.#restUntil);
  }

  /** Milliseconds until `next` may answer something else, if nothing else happens. */
  waitMs(window: DeliveryWindow, inFlight: number): number {
    if (inFlight >= (this.isDown ? 1 : this.parallel)) return Number.POSITIVE_INFINITY;
    let at = Number.POSITIVE_INFINITY;
    for (const { nextTryAt } of window.waiting()) at = Math.min(at, this.isDown ? 0 : nextTryAt);
    return Math.max(at, this.#restUntil) - this.#clock.monotonic();
  }

  failed(pending: Pending, { retryAfterMs = 0 }: Pick<SinkRefusal, 'retryAfterMs'>): void {
    const now = this.#clock.monotonic();
    const asked = Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS);
    pending.failures += 1;
    pending.failingSince ??= this.#clock.now();
    pending.failingFrom ??= now;
    pending.takenBefore ??= this.#taken;
    pending.nextTryAt = now + Math.max(asked, backoffMs(pending.id, pending.failures, LONGEST_BACKOFF_MS));
    if (!this.isRefused(pending)) this.#failedSince.add(pending.id);
    // Whoever asks for time asks for it whatever the event.
    if (asked > 0) this.#restUntil = Math.max(this.#restUntil, now + asked);
    // Of deliveries that were under way together one rest is enough.
    if (!this.isDown || now < this.#restUntil) return;
    this.#rests += 1;
    const rest = backoffMs(this.#sinkId, this.#rests, LONGEST_REST_MS);
    this.#restUntil = Math.max(this.#restUntil, now + rest);
  }

  /** Where it is back, what has waited because it was away waits no longer. */
  succeeded(window: DeliveryWindow): void {
    this.#taken += 1;
    if (this.isDown) for (const one of window.failing()) if (this.#failedSince.has(one.id)) one.nextTryAt = 0;
    this.#failedSince.clear();
    this.#rests = 0;
  }
}
