import { randomBytes } from 'node:crypto';
import { type JobEvent, WaybillError } from '@waybill/core';
import { absent } from './conditions.ts';
import type { Database } from './database.ts';
import { encodeEntries } from './event-codec.ts';
import { bucketOf, bucketPk, confirmSk, headKey, positionSk } from './keys.ts';
import { secondsOf } from './rows.ts';
import type { Settings } from './settings.ts';

/** A writer that did not get on with its rows in this time gives up: readers may soon look past its segment. */
const WRITER_PATIENCE_MS = 30_000;
/** After this time a segment that nobody confirmed is settled by whoever reads it. */
export const ORPHANED_AFTER_MS = 60_000;

const LARGEST_SEGMENT_BYTES = 300_000;

/** What a row carries to prove that an event of it is true: the place of its change in the log. */
export const markOf = (position: number, index: number): string => `${position.toString(36)}.${index.toString(36)}`;

/**
 * The log, one segment per call. Two items cannot be written at once without a transaction, so a segment is written
 * ahead of the rows that it tells of, each row carries the mark of its change, and the segment is confirmed when the
 * rows are written. If the writer dies in between, the marks tell which events are true.
 */
export class LogWriter {
  readonly #db: Database;
  readonly #settings: Settings;

  constructor(db: Database, settings: Settings) {
    this.#db = db;
    this.#settings = settings;
  }

  async open(changes: readonly (readonly JobEvent[])[]): Promise<OpenSegments> {
    const parts = partBySize(changes);
    const segments = new OpenSegments(this.#db, changes.length);
    if (parts.length === 0) return segments;
    const head = await this.#draw(parts.length);
    const now = this.#settings.clock.now();
    for (const [offset, part] of parts.entries()) {
      const position = head - parts.length + 1 + offset;
      const x = secondsOf(now + this.#settings.retention.eventsMs);
      const body = encodeEntries(part.map((index) => changes[index]!));
      const key = { pk: bucketPk(bucketOf(position)), sk: positionSk(position) };
      const { ok, ...answer } = await this.#db.write({ put: { ...key, at: now, b: body, x }, if: absent() });
      // Our own, if the answer to a first try was lost: nobody else was given this position.
      const isOwn = 'old' in answer && answer.old?.['b'] === body;
      if (!ok && !isOwn) throw new WaybillError('internal', `Position ${position} of the log was given out twice.`);
      segments.add(position, part, x);
    }
    return segments;
  }

  /** Drawn before the rows are written and after whatever they build on, so a job's events are in order. */
  async #draw(count: number): Promise<number> {
    const head = await this.#db.count(headKey, { n: count }, { at: this.#settings.clock.now() });
    return head['n'] as number;
  }
}

/** Which changes go into which segment. */
function partBySize(changes: readonly (readonly JobEvent[])[]): number[][] {
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
  readonly #openedAt = performance.now();

  constructor(db: Database, changes: number) {
    this.#db = db;
    this.#marks = Array.from({ length: changes }, () => `-${randomBytes(4).toString('base64url')}`);
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

  /** Must be called before a write that comes late in a call: readers do not wait for ever. */
  assertFresh(): void {
    if (this.#segments.length === 0 || performance.now() - this.#openedAt < WRITER_PATIENCE_MS) return;
    throw new WaybillError('unavailable', 'DynamoDB was too slow: the call was given up before its rows were written.');
  }

  async confirm(): Promise<void> {
    for (const { position, part, x } of this.#segments) {
      const lost = part.flatMap((index, place) => (this.#lost.has(index) ? [place] : []));
      await this.#db.write(confirmation(position, lost, x));
    }
  }
}

/** `no`: the places whose events are not true. */
export const confirmation = (position: number, lost: readonly number[], x: number) => ({
  put: {
    pk: bucketPk(bucketOf(position)),
    sk: confirmSk(position),
    x,
    ...(lost.length > 0 && { no: lost.join(' ') }),
  },
  if: absent(),
});
