import {
  type EventFilter,
  type EventPage,
  type EventQuery,
  eventMatches,
  type LogEvent,
  type LoggedEvent,
  WaybillError,
} from '@waybill/core';
import type { Base } from './base.ts';
import { all, between, equals } from './conditions.ts';
import { decodeEntries } from './event-codec.ts';
import { type Item, number } from './items.ts';
import { bucketOf, bucketPk, confirmSk, firstOf, headKey, positionSk } from './keys.ts';
import { closePosition, lostIn, settleOrphan } from './orphans.ts';
import { isGone } from './rows.ts';

/** Segments looked at by one call, so that a filter that lets little through does not take for ever. */
const SEGMENTS_PER_READ = 200;

/** The next event to look at: the segment, and the place among its events. */
interface Position {
  segment: number;
  index: number;
}

/** How far the log goes, and where its oldest segment that may be kept is. */
interface Head {
  newest: number;
  oldest: number;
  drawnAt: number;
}

export async function endOfLog(base: Base): Promise<string> {
  const { newest } = await readHead(base);
  return formatCursor({ segment: newest + 1, index: 0 });
}

export async function readEvents(base: Base, { after, filter, limit }: EventQuery): Promise<EventPage> {
  const from = after === undefined ? null : parseCursor(after);
  const head = await readHead(base);
  const start = from && from.segment >= head.oldest ? from : { segment: head.oldest, index: 0 };
  const page: EventPage = {
    events: [],
    cursor: formatCursor(from && from.segment > head.newest ? from : start),
    atEnd: true,
    missed: from !== null && from.segment < head.oldest,
  };
  const last = Math.min(head.newest, start.segment + SEGMENTS_PER_READ - 1);
  if (start.segment > last) return page;
  for (let bucket = bucketOf(start.segment); firstOf(bucket) <= last; bucket++) {
    const segments = await readBucket(
      base,
      Math.max(start.segment, firstOf(bucket)),
      Math.min(last, firstOf(bucket + 1) - 1),
    );
    for (const segment of segments) {
      const events = await eventsOf(base, segment, head);
      // Somebody is still writing there, so nothing behind it may be read: it would be passed over.
      if (events === 'open') {
        // Those behind it are watched from now on too: a process that died has often left several.
        for (const one of segments) if (one.position > segment.position && !one.confirmed) isOrphaned(base, one, head);
        return { ...page, cursor: formatCursor(placeAt(start, segment.position)) };
      }
      if (events === 'gone') page.missed ||= from !== null;
      else if (isFull(page, events, placeAt(start, segment.position), filter, limit, head)) return page;
      page.cursor = formatCursor({ segment: segment.position + 1, index: 0 });
    }
  }
  return { ...page, atEnd: last >= head.newest };
}

/** What a segment tells; null: it has expired, or nobody has confirmed it yet. */
export async function confirmedEvents(base: Base, position: number): Promise<LoggedEvent[] | null> {
  const [segment] = await readBucket(base, position, position);
  const { item, confirmed } = segment!;
  if (!item || !confirmed || isGone(item, base.settings.clock.now())) return null;
  return withCursors(trueOnes(decodeEntries(item['b'] as string), lostIn(confirmed)), position);
}

const placeAt = (start: Position, segment: number): Position =>
  segment === start.segment ? start : { segment, index: 0 };

/** Adds what the filter lets through; true when the page has all it can hold. */
function isFull(
  page: EventPage,
  told: readonly LogEvent[],
  from: Position,
  filter: EventFilter,
  limit: number,
  head: Head,
): boolean {
  const events = withCursors(told, from.segment);
  for (let index = from.index; index < events.length; index++) {
    const event = events[index]!;
    if (!eventMatches(event, filter)) continue;
    page.events.push(event);
    page.cursor = event.cursor;
    page.atEnd = index === events.length - 1 && from.segment === head.newest;
    if (page.events.length >= limit) return true;
  }
  page.atEnd = true;
  return false;
}

/** Behind the last event of a segment the next segment begins. */
const withCursors = (events: readonly LogEvent[], segment: number): LoggedEvent[] =>
  events.map((event, index) => {
    const isLast = index === events.length - 1;
    return {
      ...event,
      cursor: formatCursor(isLast ? { segment: segment + 1, index: 0 } : { segment, index: index + 1 }),
    };
  });

async function readHead({ db }: Base): Promise<Head> {
  const item = (await db.get(headKey)) ?? {};
  return { newest: number(item, 'n') ?? 0, oldest: number(item, 'lo') ?? 1, drawnAt: number(item, 'at') ?? 0 };
}

/** A position that was drawn, and what stands there. */
interface Segment {
  position: number;
  item: Item | undefined;
  confirmed: Item | undefined;
  /** When the position was certainly drawn already; null: nothing tells. */
  drawnBy: number | null;
}

async function readBucket({ db }: Base, from: number, to: number): Promise<Segment[]> {
  const pk = bucketPk(bucketOf(from));
  const items = await db.queryAll({ where: all(equals('pk', pk), between('sk', positionSk(from), confirmSk(to))) });
  const found = new Map(items.map((item) => [item['sk'] as string, item]));
  const segments: Segment[] = [];
  let drawnBy: number | null = null;
  for (let position = to; position >= from; position--) {
    const item = found.get(positionSk(position));
    drawnBy = (item && number(item, 'at')) ?? drawnBy;
    segments.unshift({ position, item, confirmed: found.get(confirmSk(position)), drawnBy });
  }
  return segments;
}

async function eventsOf(base: Base, segment: Segment, head: Head): Promise<LogEvent[] | 'open' | 'gone'> {
  const { position, item, confirmed } = segment;
  if (item && isGone(item, base.settings.clock.now())) return 'gone';
  const entries = item && decodeEntries(item['b'] as string);
  if (confirmed || entries?.length === 0) base.orphans.forget(position);
  if (entries?.length === 0) return [];
  if (entries && confirmed) return trueOnes(entries, lostIn(confirmed));
  if (!isOrphaned(base, segment, head)) return 'open';
  if (entries) return trueOnes(entries, await settleOrphan(base, position, entries, item['x'] as number));
  // Drawn by a process that died before it wrote there, or that is about to.
  return (await closePosition(base, position)) ? [] : 'open';
}

const isOrphaned = ({ orphans }: Base, { position, item, drawnBy }: Segment, head: Head): boolean =>
  orphans.isOrphaned(position, (item && number(item, 'at')) ?? drawnBy ?? head.drawnAt);

const trueOnes = (entries: LogEvent[][], lost: ReadonlySet<number>): LogEvent[] =>
  entries.filter((_, place) => !lost.has(place)).flat();

/** Notes that what has expired is no more, so that nobody looks for it. */
export async function forgetOldSegments(base: Base): Promise<void> {
  const head = await readHead(base);
  const now = base.settings.clock.now();
  let oldest = head.oldest;
  while (oldest <= head.newest) {
    const end = Math.min(head.newest, firstOf(bucketOf(oldest) + 1) - 1);
    const segments = await readBucket(base, oldest, end);
    const kept = segments.find(({ item, drawnBy }) =>
      item ? !isGone(item, now) : now - (drawnBy ?? head.drawnAt) < base.settings.retention.eventsMs,
    );
    oldest = kept?.position ?? end + 1;
    if (kept) break;
  }
  if (oldest > head.oldest) await base.db.write({ update: headKey, change: { set: { lo: oldest } } });
}

const formatCursor = ({ segment, index }: Position): string => (index === 0 ? `${segment}` : `${segment}.${index}`);

const CURSOR = /^([0-9]{1,15})(?:\.([0-9]{1,9}))?$/;

function parseCursor(cursor: string): Position {
  const match = CURSOR.exec(cursor);
  if (!match) throw new WaybillError('invalid_request', 'The event cursor was not made by this store.');
  return { segment: Number(match[1]), index: Number(match[2] ?? 0) };
}
