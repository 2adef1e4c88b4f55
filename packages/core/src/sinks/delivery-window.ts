import type { LoggedEvent } from '../events/job-event.ts';
import { eventIdOf, type LineOf, linesOf } from './event-id.ts';
import type { ParkedLine } from './sink.ts';

/** An event that was read and is not delivered, or waits for older ones to be. Times are of the monotonic clock. */
export interface Pending {
  readonly id: string;
  readonly event: LoggedEvent;
  /** Failed tries so far. */
  failures: number;
  /** Wall time of the first of them. */
  failingSince: number | null;
  /** The same moment by the monotonic clock. */
  failingFrom: number | null;
  /** Deliveries of other events that had succeeded by then. */
  takenBefore: number | null;
  nextTryAt: number;
  isInFlight: boolean;
}

interface Entry extends Pending {
  readonly line: string;
  /** The place before it in the log. */
  readonly before: string | null;
  readonly bytes: number;
  cursor: string;
  isDone: boolean;
}

/** Events of one line that have left the window and were not delivered. */
export interface Removed {
  line: string;
  /** The place before the first of them. */
  after: string | null;
  first: string;
  last: string;
  /** The first of them, where it was tried. */
  head?: Pending;
}

export interface WindowBounds {
  events: number;
  bytes: number;
  /** The part of both that one line may have. */
  share: number;
}

/** A pending delivery of an event that has not been tried. */
export const pendingOf = (event: LoggedEvent): Pending => ({
  ...{ id: eventIdOf(event), event, failures: 0, failingSince: null, failingFrom: null, takenBefore: null },
  ...{ nextTryAt: 0, isInFlight: false },
});

/**
 * What a sink has read and not finished. Events of one line (a job, a queue, ..) are given out one at a time and in order,
 * different lines side by side. The cursor moves over what is done, up to the first event that is not.
 */
export class DeliveryWindow {
  readonly #bounds: WindowBounds;
  readonly lineOf: LineOf;
  /** In the order of the log; the first is the oldest that is not done. */
  readonly #entries: Entry[] = [];
  readonly #lines = new Map<string, Entry[]>();
  #bytes = 0;
  #cursor: string | null;
  /** Behind the last event that was read. */
  #readTo: string | null;

  constructor(cursor: string | null, bounds: WindowBounds, lineOf: LineOf = linesOf({})) {
    this.lineOf = lineOf;
    this.#cursor = cursor;
    this.#readTo = cursor;
    this.#bounds = bounds;
  }

  /** Everything up to here is done. */
  get cursor(): string | null {
    return this.#cursor;
  }

  get size(): number {
    return this.#entries.length;
  }

  get isFull(): boolean {
    return this.#entries.length >= this.#bounds.events || this.#bytes >= this.#bounds.bytes;
  }

  holds(line: string): boolean {
    return this.#lines.has(line);
  }

  has(pending: Pending): boolean {
    return this.#lines.get(this.lineOf(pending.event))?.[0] === pending;
  }

  /** Whether the events behind the first one of this line take more than its part of the room. */
  isOverShare(line: string): boolean {
    const { events, bytes, share } = this.#bounds;
    const [, ...later] = this.#lines.get(line) ?? [];
    if (later.length >= events * share) return true;
    return later.length > 0 && later.reduce((sum, one) => sum + one.bytes, 0) >= bytes * share;
  }

  /** The oldest that is not done. */
  get head(): Pending | undefined {
    return this.#entries[0];
  }

  push(event: LoggedEvent): void {
    const entry: Entry = {
      ...pendingOf(event),
      ...{ line: this.lineOf(event), before: this.#readTo, cursor: event.cursor },
      ...{ bytes: JSON.stringify(event.data).length, isDone: false },
    };
    this.#readTo = event.cursor;
    this.#entries.push(entry);
    this.#bytes += entry.bytes;
    const line = this.#lines.get(entry.line);
    if (line) line.push(entry);
    else this.#lines.set(entry.line, [entry]);
  }

  /** There is nothing for this sink between the last event and here. */
  passedTo(cursor: string): void {
    this.#readTo = cursor;
    const last = this.#entries.at(-1);
    if (last) last.cursor = cursor;
    else this.#cursor = cursor;
  }

  /** The first event of each line, unless it is under way. Lines take turns. */
  *waiting(): Generator<Pending> {
    for (const [first] of this.#lines.values()) if (first && !first.isInFlight) yield first;
  }

  done(pending: Pending): void {
    const entry = pending as Entry;
    entry.isDone = true;
    entry.isInFlight = false;
    const line = this.#lines.get(entry.line)!;
    line.shift();
    // Its next event goes to the end of the map, so that the other lines come first.
    this.#lines.delete(entry.line);
    if (line.length > 0) this.#lines.set(entry.line, line);
    this.#advance();
  }

  /** Takes a line out whose first event is not under way. */
  take(pending: Pending): Removed {
    return { ...this.#remove(this.#lines.get((pending as Entry).line)!), head: pending };
  }

  /** Takes out what is behind the first event of a line. */
  takeLater(line: string): Removed {
    const [first, ...later] = this.#lines.get(line)!;
    const removed = this.#remove(later);
    this.#lines.set(line, [first!]);
    return removed;
  }

  /** Where the events of a line begin that are here and not delivered, as of this monotonic time. */
  beginOf(line: string, monotonic: number): Omit<ParkedLine, 'line' | 'last'> | undefined {
    const [first] = this.#lines.get(line) ?? [];
    if (!first) return undefined;
    const { before: after, id, failures, failingSince, failingFrom } = first;
    return { after, first: id, failures, failingSince, failingMs: Math.round(monotonic - (failingFrom ?? monotonic)) };
  }

  /** Those that have failed and are not delivered. */
  failing(): Pending[] {
    return [...this.#lines.values()].flatMap(([first]) => (first && first.failures > 0 ? [first] : []));
  }

  #remove(entries: readonly Entry[]): Removed {
    const [first, last] = [entries[0]!, entries.at(-1)!];
    for (const entry of entries) entry.isDone = true;
    this.#lines.delete(first.line);
    this.#advance();
    return { line: first.line, after: first.before, first: first.id, last: last.id };
  }

  #advance(): void {
    let count = 0;
    for (; this.#entries[count]?.isDone; count += 1) {
      this.#cursor = this.#entries[count]!.cursor;
      this.#bytes -= this.#entries[count]!.bytes;
    }
    this.#entries.splice(0, count);
  }
}
