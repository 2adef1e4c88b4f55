import {
  type EventFilter,
  type EventLog,
  type EventPage,
  type EventQuery,
  eventMatches,
  type LoggedEvent,
  MOST_JOBS_SOUGHT,
  type Told,
} from '@waybill/core';
import { decodeEvents } from '../event-codec.ts';
import { plainArray, textArray } from './arrays.ts';
import type { Base } from './base.ts';
import { formatCursor, isLater, type LogCursor, NOTHING_SEEN, parseCursor, parseEnd, runningIn } from './log-cursor.ts';
import { isId } from './rows.ts';
import { tellingOnce } from './subjects.ts';

/** Segments looked at by one call, so that a filter that lets little through makes no long statement. */
const SEGMENTS_PER_READ = 64;
/** Where a handful of jobs is asked for, PostgreSQL finds their segments without sending the others. */
const SEGMENTS_PER_SEARCH = 1024;

export const eventLog = (base: Base): EventLog => ({
  read: (query) => readEvents(base, query),
  end: () => endOfLog(base),
  tell: (told) => tell(base, told),
});

type StateCells = [store: string, now: string, wasPruned: boolean, isSetBack: boolean, adoptedSeq: number];
type SegmentCells = [seq: number, first: number, body: string | null, ids: string | null];

async function readEvents(base: Base, query: EventQuery): Promise<EventPage> {
  const { after, until, filter, limit } = query;
  const given = after === undefined ? null : parseCursor(after);
  const end = until === undefined ? null : parseEnd(until);
  const { base: seen = NOTHING_SEEN, target = null, seq = 0, index = 0 } = given ?? {};
  const { link, sql } = base;
  const [state] = await link.query<StateCells>(sql['log-state'], [seen, target, seq, index]);
  const [store, now, wasPruned, isSetBack, adoptedSeq] = state!;
  // Its numbers mean nothing here: the database is another one, or was restored.
  if (given && (given.store !== store || isSetBack)) {
    const { after: _, ...fromStart } = query;
    return { ...(await readEvents(base, fromStart)), missed: true };
  }
  const last = end && (end.store === store && !isLater(end.base, now) ? end.base : NOTHING_SEEN);
  // Also one that is on its way to a later snapshot: it may have read what is to be left out.
  if (last && isLater(target ?? seen, last)) return { events: [], cursor: after!, atEnd: false, missed: false };
  // Whoever reads on from there reads everything.
  if (last === NOTHING_SEEN) return { events: [], cursor: cursorBehind(store, last), atEnd: true, missed: false };

  const from: LogCursor = { store, base: seen, target: target ?? last ?? now, seq, index };
  const { jobIds = [] } = filter;
  const isSearch = jobIds.length > 0 && jobIds.length <= MOST_JOBS_SOUGHT;
  const most = isSearch ? SEGMENTS_PER_SEARCH : SEGMENTS_PER_READ;
  const sought = isSearch ? [textArray(jobIds), plainArray(jobIds.filter(isId))] : [null, null];
  const cells = [from.target, seq, most, ...sought, adoptedSeq];
  const rows =
    seen === NOTHING_SEEN
      ? await link.query<SegmentCells>(sql['segments-from-start'], cells)
      : await link.query<SegmentCells>(sql['segments-after'], [seen, ...cells, plainArray(runningIn(seen)) ?? '{}']);
  const page = new PageWriter(from, filter, limit, given !== null && wasPruned);
  for (const row of rows) if (page.add(row)) break;
  // What an older snapshot ended with is not the end.
  const isEnd = target === null || (last !== null && !isLater(last, target));
  return page.finish(rows, rows.length < most, isEnd);
}

/** Collects a page from segments. */
class PageWriter {
  readonly #from: LogCursor;
  readonly #filter: EventFilter;
  readonly #limit: number;
  readonly #missed: boolean;
  readonly #events: LoggedEvent[] = [];
  /** Where the last event taken stands. */
  #at: { seq: number; index: number; isLast: boolean } | null = null;

  constructor(from: LogCursor, filter: EventFilter, limit: number, missed: boolean) {
    this.#from = from;
    this.#filter = filter;
    this.#limit = limit;
    this.#missed = missed;
  }

  /** True when the page is full. */
  add([seq, first, body, ids]: SegmentCells): boolean {
    if (body === null) return false;
    const logged = decodeEvents(body, ids?.split(','));
    const start = seq === this.#from.seq ? Math.max(first, this.#from.index) : first;
    for (let index = start; index < logged.length; index += 1) {
      const event = logged[index]!;
      if (!eventMatches(event, this.#filter)) continue;
      this.#events.push({ ...event, cursor: formatCursor({ ...this.#from, seq, index: index + 1 }) });
      if (this.#events.length < this.#limit) continue;
      this.#at = { seq, index: index + 1, isLast: index === logged.length - 1 };
      return true;
    }
    return false;
  }

  finish(rows: readonly SegmentCells[], isAll: boolean, isEnd: boolean): EventPage {
    const [events, missed] = [this.#events, this.#missed];
    const lastSeq = rows.at(-1)?.[0] ?? this.#from.seq;
    const isRead = this.#at === null || (this.#at.isLast && this.#at.seq === lastSeq);
    if (isAll && isRead) {
      const { store, target } = this.#from;
      return { events, cursor: cursorBehind(store, target!), atEnd: isEnd, missed };
    }
    const place = this.#at ?? { seq: lastSeq + 1, index: 0 };
    return {
      events,
      cursor: formatCursor({ ...this.#from, seq: place.seq, index: place.index }),
      atEnd: false,
      missed,
    };
  }
}

async function tell(base: Base, told: readonly Told[]): Promise<void> {
  if (told.length === 0) return;
  await tellingOnce(base)((_, write) => write(told));
}

async function endOfLog({ link, sql }: Base): Promise<string> {
  const [state] = await link.query<StateCells>(sql['log-state'], [NOTHING_SEEN, null, 0, 0]);
  const [store, now] = state!;
  return cursorBehind(store, now);
}

const cursorBehind = (store: string, snapshot: string): string =>
  formatCursor({ store, base: snapshot, target: null, seq: 0, index: 0 });
