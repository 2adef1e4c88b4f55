import {
  type EventPage,
  eventMatches,
  type LoggedEvent,
  MOST_JOBS_SOUGHT,
  type Told,
  WaybillError,
} from '@waybill/core';
import { decodeEvents } from '../event-codec.ts';
import type { Input } from './protocol.ts';
import type { Queries } from './queries.ts';
import type { Session } from './session.ts';

/** Segments looked at by one call, so that a filter that lets little through does not hold up the thread. */
const SEGMENTS_PER_READ = 64;
const SEGMENTS_PER_STEP = 8;
/** Where a handful of jobs is asked for, SQLite finds their segments without decoding the others. */
const SEGMENTS_PER_SEARCH = 1024;

/** The next event to look at: the segment and the place inside of it. */
interface Position {
  segment: number;
  index: number;
}

type Span = [oldest: number | null, first: number | null, newest: number];

export function readEvents({ sql }: Session, { after, until, filter, limit }: Input<'readEvents'>): EventPage {
  const [kept, first, newest] = sql['segments-span'].get<Span>()!;
  const start = { segment: kept ?? newest + 1, index: first ?? 0 };
  const given = after === undefined ? start : parseCursor(after);
  // A place that no reader of this log can have reached: the file is another one, or was set back.
  const isForeign = isBefore({ segment: newest + 1, index: 0 }, given);
  const from = isForeign ? start : given;
  const to = until === undefined ? endOf(from, newest) : parseCursor(until);
  if (after !== undefined && !isForeign && isBefore(to, from))
    return { events: [], cursor: after, atEnd: false, missed: false };
  const missed = isForeign || isBefore(from, start);
  // The log is pruned from its head only, so it has no gaps.
  const oldest = Math.max(from.segment, start.segment);
  const last = Math.min(newest, to.index === 0 ? to.segment - 1 : to.segment);
  const { jobIds = [] } = filter;
  const only = jobIds.length > 0 && jobIds.length <= MOST_JOBS_SOUGHT ? JSON.stringify(jobIds) : null;
  const most = only === null ? SEGMENTS_PER_READ : SEGMENTS_PER_SEARCH;
  const reach = Math.min(last, oldest + most - 1);
  const events: LoggedEvent[] = [];
  for (const [segment, first, body] of segmentsOf(sql, oldest, reach, only)) {
    const logged = decodeEvents(body);
    const start = segment === from.segment ? Math.max(first, from.index) : first;
    const end = segment === to.segment ? Math.min(to.index, logged.length) : logged.length;
    for (let index = start; index < end; index += 1) {
      const event = logged[index]!;
      if (!eventMatches(event, filter)) continue;
      const isLast = index === logged.length - 1;
      const next = isLast ? { segment: segment + 1, index: 0 } : { segment, index: index + 1 };
      const cursor = formatCursor(next);
      events.push({ ...event, cursor });
      if (events.length >= limit) return { events, cursor, atEnd: !isBefore(next, to), missed };
    }
  }
  if (reach < last) return { events, cursor: formatCursor({ segment: reach + 1, index: 0 }), atEnd: false, missed };
  return { events, cursor: formatCursor(to), atEnd: true, missed };
}

/**
 * A few segments at a time, so that a page that is soon full reads no more than it needs. Not by the statement's own
 * iterator: one that is left before its end stays open in SQLite until it is collected.
 */
function* segmentsOf(sql: Queries, oldest: number, last: number, only: string | null) {
  const step = only === null ? SEGMENTS_PER_STEP : SEGMENTS_PER_SEARCH;
  for (let from = oldest; from <= last; from += step) {
    yield* sql['segments-after'].all<[number, number, string]>(from, Math.min(last, from + step - 1), only);
  }
}

export function tell(session: Session, told: readonly Told[]): null {
  for (const one of told) session.tell(one);
  return null;
}

export function endOfEvents({ sql }: Session): string {
  const [, , newest] = sql['segments-span'].get<Span>()!;
  return formatCursor({ segment: newest + 1, index: 0 });
}

const isBefore = (one: Position, other: Position): boolean =>
  one.segment === other.segment ? one.index < other.index : one.segment < other.segment;

/** Never back: a cursor from before the log was pruned stays where it is. */
const endOf = (from: Position, newest: number): Position =>
  from.segment > newest ? from : { segment: newest + 1, index: 0 };

const formatCursor = ({ segment, index }: Position): string => (index === 0 ? `${segment}` : `${segment}.${index}`);

const CURSOR = /^([0-9]{1,15})(?:\.([0-9]{1,9}))?$/;

function parseCursor(text: string): Position {
  const match = CURSOR.exec(text);
  if (!match) throw new WaybillError('invalid_request', 'The event cursor was not made by this store.');
  return { segment: Number(match[1]), index: Number(match[2] ?? 0) };
}
