import type { Clock } from '../clock.ts';
import type { EventLog } from '../store/event-log.ts';
import { type DeliveryWindow, type Pending, pendingOf } from './delivery-window.ts';
import { eventIdOf } from './event-id.ts';
import { readLine } from './line-reader.ts';
import { type Parked, ParkedLines } from './parked-lines.ts';
import type { ParkedLine, Sink } from './sink.ts';
import type { SinkFacts } from './sink-facts.ts';
import type { SinkHealth } from './sink-health.ts';

/** Of the deliveries at the same time, those that may be of parked lines. */
const MOST_VISITS = 2;
const AFTER_ERROR_MS = 1_000;

/** What the run of the sink does for its parked lines. */
export interface ParkingHost {
  readonly isOver: boolean;
  /** Answers whether it was taken. */
  try(pending: Pending): Promise<boolean>;
  /** Of the last failed try. */
  lastError(): string;
  /** Something is to be saved, and there may be more to do. */
  changed(): void;
  /** The reader may go on. */
  roomMade(): void;
  wasSetAside(): void;
  wasPruned(): void;
  later(error: unknown, what: string): void;
}

interface ParkingParts {
  sink: Sink;
  clock: Clock;
  read: EventLog['read'];
  window: DeliveryWindow;
  health: SinkHealth;
  facts: SinkFacts;
  pauseAfterMs: number;
}

/** Takes lines out of the window that others need not wait for, and delivers their events from the log. */
export class LineParking {
  readonly lines: ParkedLines;
  readonly #parts: ParkingParts;
  readonly #host: ParkingHost;
  #visits = 0;
  #isCrowded = false;

  constructor(kept: readonly ParkedLine[], parts: ParkingParts, host: ParkingHost) {
    this.lines = new ParkedLines(kept, parts.clock);
    this.#parts = parts;
    this.#host = host;
  }

  /** There is no room for another line, and one must go. */
  get isCrowded(): boolean {
    return this.#isCrowded;
  }

  /**
   * As they are kept. A line whose first event is still in the window is kept from that event on: a server that goes on
   * from here reads the event again, and leaves it to its line.
   */
  toKeep(): ParkedLine[] {
    const { window, clock } = this.#parts;
    return this.lines.toKeep().map((one) => ({ ...one, ...window.beginOf(one.line, clock.monotonic()) }));
  }

  /** So that there is room for others than this line. Answers whether anything has changed. */
  makeRoom(line: string): boolean {
    const { window, health } = this.#parts;
    const isLong = window.isOverShare(line);
    const isInTheWay = (one: Pending) => !one.isInFlight && !health.isDown && health.isRefused(one);
    const refused = isLong ? [] : window.failing().filter(isInTheWay);
    if (!isLong && refused.length === 0) return false;
    if (this.lines.isFull) {
      this.#isCrowded = !health.isDown;
      this.#host.changed();
      return false;
    }
    if (isLong) this.lines.add(window.takeLater(line));
    for (const one of refused) if (!this.lines.isFull) this.lines.add(window.take(one));
    this.#host.changed();
    return true;
  }

  /**
   * One that was refused for so long that it is to be set aside: that happens to parked lines only. Where there is no room
   * for its line it stays in the window, and is parked after a later try.
   */
  park(pending: Pending): void {
    if (this.lines.isFull && !this.lines.has(this.#parts.window.lineOf(pending.event))) return;
    this.lines.add(this.#parts.window.take(pending));
    this.#host.roomMade();
  }

  /** Begins with a line whose time has come, if there is one. */
  visitNext(): Promise<void> | undefined {
    const parked = this.#mayVisit && !this.#parts.health.isResting ? this.lines.due(this.#isInWindow) : undefined;
    if (!parked) return undefined;
    parked.isInFlight = true;
    this.#visits += 1;
    return this.#visit(parked).finally(() => {
      this.#visits -= 1;
      parked.isInFlight = false;
      this.#host.changed();
      this.#host.roomMade();
    });
  }

  /** Milliseconds until there is something to do, if nothing else happens. */
  waitMs(): number {
    const { clock, health } = this.#parts;
    if (this.#isCrowded) return AFTER_ERROR_MS;
    if (!this.#mayVisit || health.isDown) return Number.POSITIVE_INFINITY;
    return Math.max(this.lines.dueAt(this.#isInWindow), health.restUntil) - clock.monotonic();
  }

  /** The line that was refused most often is given up, and told. */
  async dropMostRefused(): Promise<void> {
    const parked = this.lines.mostRefused();
    this.#isCrowded = false;
    if (!parked) return;
    const { first, last, failures: tries } = parked;
    parked.isInFlight = true;
    try {
      const reason = this.#host.lastError();
      await this.#parts.facts.setAside({ event_id: first ?? last, last_event_id: last, tries, reason });
    } catch (error) {
      parked.isInFlight = false;
      this.#isCrowded = true;
      return this.#host.later(error, 'It could not be told that events of a sink were set aside.');
    }
    this.lines.remove(parked);
    this.#host.wasSetAside();
    this.#host.roomMade();
  }

  get #mayVisit(): boolean {
    return this.#visits < MOST_VISITS;
  }

  readonly #isInWindow = (line: string): boolean => this.#parts.window.holds(line);

  /** Its next events, one after the other, until one fails or there are no more. */
  async #visit(parked: Parked): Promise<void> {
    const { sink, clock, read } = this.#parts;
    const { last, first } = parked;
    try {
      const { events, after, isEnd } = await readLine({ read }, sink, parked);
      const isGone = isEnd || (events[0] !== undefined && eventIdOf(events[0]) !== first);
      if (first !== null && isGone) this.#host.wasPruned();
      for (const event of events) {
        if (this.#host.isOver) return;
        const { failures, failingSince, failingFrom } = parked;
        const begun = { failures, failingSince, failingFrom, takenBefore: -1, isInFlight: true };
        const pending = { ...pendingOf(event), ...begun };
        if (!(await this.#host.try(pending))) return await this.#refused(parked, pending);
        goOn(parked, event.cursor);
        if (pending.id === parked.last) return this.lines.remove(parked);
      }
      // Unless more was left to it meanwhile.
      if (isEnd && parked.last === last) this.lines.remove(parked);
      else if (events.length === 0) parked.after = after;
      this.lines.toTheEnd(parked);
    } catch (error) {
      parked.nextTryAt = clock.monotonic() + AFTER_ERROR_MS;
      this.#host.later(error, 'The parked events of a sink could not be read or told.');
    }
  }

  /** It waits. Where that has taken too long it is set aside, and the next event of its line has its turn. */
  async #refused(parked: Parked, pending: Pending): Promise<void> {
    const { clock, facts, pauseAfterMs } = this.#parts;
    const { id, event, failures, failingSince, failingFrom, nextTryAt } = pending;
    if (failures === parked.failures) return; // given up with the run, not refused
    Object.assign(parked, { first: id, failures, failingSince, failingFrom, nextTryAt });
    if (failingFrom === null || clock.monotonic() - failingFrom < pauseAfterMs) return;
    await facts.setAside({ event_id: id, tries: failures, reason: this.#host.lastError() });
    this.#host.wasSetAside();
    goOn(parked, event.cursor);
    if (id === parked.last) this.lines.remove(parked);
  }
}

function goOn(parked: Parked, after: string): void {
  Object.assign(parked, { after, first: null, failures: 0, failingSince: null, failingFrom: null, nextTryAt: 0 });
}
