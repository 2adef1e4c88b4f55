import type { Clock } from '../clock.ts';
import { backoffMs, LONGEST_BACKOFF_MS } from './backoff.ts';
import type { Removed } from './delivery-window.ts';
import type { ParkedLine } from './sink.ts';

/** What is kept of all of them is part of one record, which is written every second. */
const MOST_LINES = 200;
const MOST_BYTES = 96 * 1024;
const OTHER_BYTES = 120;

/** Times are of the monotonic clock. */
export interface Parked extends Omit<ParkedLine, 'failingMs'> {
  failingFrom: number | null;
  nextTryAt: number;
  isInFlight: boolean;
}

/**
 * Lines that wait outside of the window, so that they stand in the way of no other line: those that the receiver refuses
 * while it takes others, and those with more events than a line may have in the window. Only their place in the log is
 * kept; their events are read again when it is their turn.
 */
export class ParkedLines {
  readonly #clock: Clock;
  readonly #lines = new Map<string, Parked>();

  constructor(kept: readonly ParkedLine[], clock: Clock) {
    this.#clock = clock;
    const now = clock.monotonic();
    for (const one of kept) {
      const wait = one.failures === 0 ? 0 : backoffMs(one.line, one.failures, LONGEST_BACKOFF_MS);
      const failingFrom = one.failingSince === null ? null : now - one.failingMs;
      this.#lines.set(one.line, { ...one, failingFrom, nextTryAt: now + wait, isInFlight: false });
    }
  }

  get isFull(): boolean {
    if (this.#lines.size >= MOST_LINES) return true;
    let bytes = 0;
    for (const { line, after, first, last } of this.#lines.values())
      bytes += line.length + (after?.length ?? 0) + (first?.length ?? 0) + last.length + OTHER_BYTES;
    return bytes >= MOST_BYTES;
  }

  has(line: string): boolean {
    return this.#lines.has(line);
  }

  /** As they are kept. */
  toKeep(): ParkedLine[] {
    const now = this.#clock.monotonic();
    return [...this.#lines.values()].map(({ line, after, first, last, failures, failingSince, failingFrom }) => ({
      ...{ line, after, first, last, failures, failingSince, failingMs: Math.round(now - (failingFrom ?? now)) },
    }));
  }

  /** Where the line is parked its events are left to it: all of them are read again from its place. */
  leave(line: string, id: string): boolean {
    const parked = this.#lines.get(line);
    if (parked) parked.last = id;
    return parked !== undefined;
  }

  /** The part of a line that was taken out of the window. Where its later part is here already, that follows it. */
  add({ line, after, first, last, head }: Removed): void {
    const { failures = 0, failingSince = null, failingFrom = null, nextTryAt = 0 } = head ?? {};
    const parked = { line, after, first, last, failures, failingSince, failingFrom, nextTryAt, isInFlight: false };
    this.#lines.set(line, { ...parked, last: this.#lines.get(line)?.last ?? last });
  }

  remove({ line }: Pick<ParkedLine, 'line'>): void {
    this.#lines.delete(line);
  }

  /** Behind the others that are due. */
  toTheEnd(parked: Parked): void {
    if (this.#lines.delete(parked.line)) this.#lines.set(parked.line, parked);
  }

  /** One whose time has come, unless its earlier part is still in the window. */
  due(isInWindow: (line: string) => boolean): Parked | undefined {
    const now = this.#clock.monotonic();
    for (const one of this.#lines.values())
      if (!one.isInFlight && one.nextTryAt <= now && !isInWindow(one.line)) return one;
    return undefined;
  }

  /** When `due` may answer another one, if nothing else happens. */
  dueAt(isInWindow: (line: string) => boolean): number {
    let at = Number.POSITIVE_INFINITY;
    for (const one of this.#lines.values())
      if (!one.isInFlight && !isInWindow(one.line)) at = Math.min(at, one.nextTryAt);
    return at;
  }

  failing(): Parked[] {
    return [...this.#lines.values()].filter(({ failures }) => failures > 0);
  }

  /** What must go when there is no room: the one that was refused most often, of these the one that was parked first. */
  mostRefused(): Parked | undefined {
    let most: Parked | undefined;
    for (const one of this.failing()) if (!one.isInFlight && one.failures > (most?.failures ?? 0)) most = one;
    return most;
  }
}
