import { setTimeout as delay } from 'node:timers/promises';
import { type EventPage, type EventQuery, eventMatches, type LogEvent, type LoggedEvent } from '@waybill/core';
import type { Base } from './base.ts';
import { all, between, equals } from './conditions.ts';
import { decodeEntries } from './event-codec.ts';
import { type Item, number } from './items.ts';
import { bucketOf, bucketPk, confirmSk, firstOf, headKey, positionSk } from './keys.ts';
import {
  comparePositions,
  formatCursor,
  type Position,
  parseCursor,
  positionBehind,
  startOf,
  withCursors,
} from './log-cursor.ts';
import { closePosition, lostIn, settleOrphan } from './orphans.ts';
import { isGone } from './rows.ts';

/** Segments looked at by one call, so that a filter that lets little through does not take for ever. */
const SEGMENTS_PER_READ = 200;
/** A reader that waits for a writer looks this often, and this many times in one call. */
const LOOK_EVERY_MS = 100;
const MOST_LOOKS = 10;

/** How far the log goes, and where its oldest segment that may be kept is. */
interface Head {
  newest: number;
  oldest: number;
  drawnAt: number;
}

export async function endOfLog(base: Base): Promise<string> {
  const { newest } = await readHead(base);
  return formatCursor(startOf(newest + 1));
}

/**
 * `end` answers a place behind segments that their writers may not have confirmed yet. A reader up to there has to wait
 * for them, and asks again at once when a page says that it is not there. So the wait is in here.
 */
export async function readEvents(base: Base, query: EventQuery): Promise<EventPage> {
  const { after, until } = query;
  const from = after === undefined ? null : parseCursor(after);
  const to = until === undefined ? null : parseCursor(until);
  if (from && to && comparePositions(from, to) > 0) {
    return { events: [], cursor: after!, atEnd: false, missed: false };
  }
  for (let look = 1; ; look++) {
    const { page, isWaiting } = await readOnce(base, query, from, to);
    if (!isWaiting || look === MOST_LOOKS) return page;
    await delay(LOOK_EVERY_MS);
  }
}

/** `isWaiting`: the reader wants to go on to `to`, and the first segment that it looks at is not confirmed. */
async function readOnce(base: Base, query: EventQuery, from: Position | null, to: Position | null) {
  const head = await readHead(base);
  const behindNewest = startOf(head.newest + 1);
  // A place that no reader of this log can have reached: the table is another one, or was restored.
  const isForeign = from !== null && comparePositions(from, behindNewest) > 0;
  const start = from && !isForeign && from.segment >= head.oldest ? from : startOf(head.oldest);
  const end = to && comparePositions(to, behindNewest) < 0 ? to : behindNewest;
  const missed = isForeign || (from !== null && from.segment < head.oldest);
  const page: EventPage = { events: [], cursor: formatCursor(start), atEnd: true, missed };
  if (comparePositions(start, end) >= 0) {
    // Everything up to `to` may have expired, and what is behind it is none of this reader's business.
    if (to && comparePositions(to, start) < 0) page.cursor = formatCursor(to);
    return { page, isWaiting: false };
  }
  const lastWanted = end.index === 0 ? end.segment - 1 : end.segment;
  const last = Math.min(lastWanted, start.segment + SEGMENTS_PER_READ - 1);
  let at = start;
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
        await watchAhead(base, segment.position, head);
        return { page: { ...page, atEnd: to === null }, isWaiting: to !== null && at === start };
      }
      if (events === 'gone') page.missed ||= from !== null;
      else if (isFull(page, events, at, end, query)) return { page, isWaiting: false };
      at = segment.position === end.segment ? end : startOf(segment.position + 1);
      page.cursor = formatCursor(at);
    }
  }
  return { page: { ...page, atEnd: comparePositions(at, end) >= 0 }, isWaiting: false };
}

/** What a segment tells; null: it has expired, or nobody has confirmed it yet. */
export async function confirmedEvents(base: Base, position: number): Promise<LoggedEvent[] | null> {
  const [segment] = await readBucket(base, position, position);
  const { item, confirmed } = segment!;
  if (!item || !confirmed || isGone(item, base.settings.clock.now())) return null;
  return withCursors(trueOnes(decodeEntries(item['b'] as string), lostIn(confirmed)), position);
}

/** Adds what the filter lets through; true when the page has all it can hold. */
function isFull(
  page: EventPage,
  told: readonly LogEvent[],
  at: Position,
  end: Position,
  { filter, limit }: EventQuery,
): boolean {
  const events = withCursors(told, at.segment);
  const stop = at.segment === end.segment ? Math.min(end.index, events.length) : events.length;
  for (let index = at.index; index < stop; index++) {
    const event = events[index]!;
    if (!eventMatches(event, filter)) continue;
    page.events.push(event);
    page.cursor = event.cursor;
    page.atEnd = comparePositions(positionBehind(at.segment, index, events.length), end) >= 0;
    if (page.events.length >= limit) return true;
  }
  page.atEnd = true;
  return false;
}

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

/** The same in the buckets behind, once the writer has been silent for a while: this takes reads of its own. */
async function watchAhead(base: Base, position: number, head: Head): Promise<void> {
  const ahead = base.orphans.nextAhead(position, head.newest);
  if (ahead === null) return;
  for (let from = ahead.from; from <= ahead.to; from = firstOf(bucketOf(from) + 1)) {
    const segments = await readBucket(base, from, Math.min(ahead.to, firstOf(bucketOf(from) + 1) - 1));
    for (const one of segments) if (!one.confirmed) isOrphaned(base, one, head);
  }
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
