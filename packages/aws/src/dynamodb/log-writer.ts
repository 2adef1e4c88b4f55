import { randomBytes } from 'node:crypto';
import { type LogEvent, WaybillError } from '@waybill/core';
import { absent } from './conditions.ts';
import type { Database } from './database.ts';
import { encodeEntries } from './event-codec.ts';
import type { Item } from './items.ts';
import { confirmKey, segmentKey } from './keys.ts';
import { LogPositions } from './log-positions.ts';
import { markOf, unloggedMark } from './marks.ts';
import { secondsOf } from './rows.ts';
import type { Settings } from './settings.ts';

/** A writer that did not get on with its rows in this time gives up: readers may soon call its changes lost. */
const WRITER_PATIENCE_MS = 30_000;
const LARGEST_SEGMENT_BYTES = 300_000;
/** A segment without changes: a reader has closed its position before its writer came to use it. */
export const EMPTY_BODY = '[]';

/**
 * The log, one segment per call. Two items cannot be written at once without a transaction, so a segment is written
 * ahead of the rows that it tells of, each row carries the mark of its change, and the segment is confirmed when the
 * rows are written. If the writer is silent in between, a reader decides by the marks which events are true, and fences
 * the rows of the others: see marks.ts.
 */
export class LogWriter {
  readonly #db: Database;
  readonly #settings: Settings;
  readonly #positions: LogPositions;

  constructor(db: Database, settings: Settings) {
    this.#db = db;
    this.#settings = settings;
    this.#positions = new LogPositions(db, settings);
  }

  async open(changes: readonly (readonly LogEvent[])[]): Promise<OpenSegments> {
    const parts = partBySize(changes);
    const segments = new OpenSegments(this.#db, this.#settings, changes.length);
    if (parts.length === 0) return segments;
    // Drawn before the rows are written and after whatever they build on, so a job's events are in order.
    const first = await this.#positions.draw(parts.length);
    const now = this.#settings.clock.now();
    for (const [offset, part] of parts.entries()) {
      const position = first + offset;
      const x = secondsOf(now + this.#settings.retention.eventsMs);
      const body = encodeEntries(part.map((index) => changes[index]!));
      const { ok, ...answer } = await this.#db.write({
        put: { ...segmentKey(position), at: now, b: body, x },
        if: absent(),
      });
      // Our own, if the answer to a first try was lost: nobody else was given this position.
      const isOwn = 'old' in answer && answer.old?.['b'] === body;
      if (!ok && !isOwn) {
        if (!('old' in answer) || answer.old?.['b'] !== EMPTY_BODY) throw givenTwice(position);
        // No row has been written yet, so all of it simply comes later.
        await segments.abandon();
        return this.open(changes);
      }
      segments.add(position, part, x);
    }
    return segments;
  }
}

const givenTwice = (position: number): WaybillError =>
  new WaybillError('internal', `Position ${position} of the log was given out twice.`);

/** Which changes go into which segment. */
function partBySize(changes: readonly (readonly LogEvent[])[]): number[][] {
  const parts: number[][] = [];
  let size = 0;
  for (const [index, events] of changes.entries()) {
    if (events.length === 0) continue;
    const bytes = JSON.stringify(events).length;
    if (parts.length === 0 || size + bytes > LARGEST_SEGMENT_BYTES) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)!.push(index);
    size += bytes;
  }
  return parts;
}

/** The segments of one call: gives out marks, is told what was lost, and is confirmed. */
export class OpenSegments {
  readonly #db: Database;
  readonly #marks: string[];
  readonly #segments: { position: number; part: number[]; x: number }[] = [];
  readonly #lost = new Set<number>();
  readonly #settings: Settings;
  readonly #openedAt = performance.now();
  readonly #openedOn: number;

  constructor(db: Database, settings: Settings, changes: number) {
    this.#db = db;
    this.#settings = settings;
    this.#openedOn = settings.clock.now();
    this.#marks = Array.from({ length: changes }, () => unloggedMark(randomBytes(4).toString('base64url')));
  }

  add(position: number, part: number[], x: number): void {
    this.#segments.push({ position, part, x });
    for (const [place, index] of part.entries()) this.#marks[index] = markOf(position, place);
  }

  /** What the row of a change carries, so that its writer knows it again; with events, the place of these. */
  mark(index: number): string {
    return this.#marks[index]!;
  }

  /** This change did not happen, so its events shall not be read. */
  lose(index: number): void {
    this.#lost.add(index);
  }

  /**
   * To be called before each write of a row: a call that readers have given up, or soon will, need not go on. The wall
   * clock counts too, because the monotonic one may stand still while a machine sleeps.
   */
  assertFresh(): void {
    if (this.#segments.length === 0) return;
    const wall = this.#settings.clock.now() - this.#openedOn;
    if (Math.max(performance.now() - this.#openedAt, wall) >= WRITER_PATIENCE_MS) throw tooLate();
  }

  /** To be called after a transaction that was refused: if readers have called its changes lost, it always will be. */
  async assertUnsettled(): Promise<void> {
    const settled = await this.#db.getAll(this.#segments.map(({ position }) => confirmKey(position)));
    if (settled.some((item) => item !== undefined)) throw tooLate();
  }

  async confirm(): Promise<void> {
    for (const { position, part, x } of this.#segments) {
      const lost = part.flatMap((index, place) => (this.#lost.has(index) ? [place] : []));
      const written = await this.#db.write(confirmation(position, lost, x));
      if (!written.ok) this.#compare(position, lost, written.old);
    }
  }

  /** No row was written, and none will be. */
  async abandon(): Promise<void> {
    for (const index of this.#marks.keys()) this.lose(index);
    await this.confirm();
  }

  /** A reader was faster, or the answer to a first try was lost. Both go by the marks, so they agree. */
  #compare(position: number, lost: readonly number[], stored: Item | undefined): void {
    if (stored === undefined || (stored['no'] ?? '') === lost.join(' ')) return;
    const told = { position, lost, stored: stored['no'] ?? '' };
    this.#settings.logger.error(told, 'A reader had decided otherwise about changes of the log.');
  }
}

export const tooLate = (): WaybillError =>
  new WaybillError('unavailable', 'The call to DynamoDB took too long and was given up before all of it was written.', {
    hint: 'Repeat the call: whatever it has written already is not written twice.',
  });

/** `no`: the places whose events are not true. */
export const confirmation = (position: number, lost: readonly number[], x: number) => ({
  put: { ...confirmKey(position), x, ...(lost.length > 0 && { no: lost.join(' ') }) },
  if: absent(),
});
