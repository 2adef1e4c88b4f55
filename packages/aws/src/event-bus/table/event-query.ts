import { invalidField } from '@waybill/core';
import { all, begins, between, type Condition, equals } from '../../dynamodb/conditions.ts';
import type { Database, Query } from '../../dynamodb/database.ts';
import type { Item } from '../../dynamodb/items.ts';
import { ANY_TIME, END_OF_TIME, from, type IndexNumber } from '../keys.ts';
import { indexName } from './create-table.ts';
import { eventOf, type StoredEvent } from './event-item.ts';

/** Moments are milliseconds since the epoch; both ends belong to the span. */
export interface Span {
  /** @defaultValue the oldest that is kept */
  since?: number;
  /** @defaultValue the newest */
  until?: number;
}

export interface Found {
  events: StoredEvent[];
  /** Goes on behind the last of these events; absent at the end. */
  cursor?: string;
}

interface Place {
  /** Absent: the table itself. */
  index?: IndexNumber;
  partition: string;
  /** What the sort key has before the moment. */
  prefix?: string;
}

/** Events of one partition whose sort keys begin alike, by time. DynamoDB answers a megabyte at a time; these go on. */
export class EventQuery {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** All of a span. */
  async all(place: Place, span: Span = {}): Promise<StoredEvent[]> {
    const { since, until } = span;
    const items = await this.#database.queryAll(queryOf(place, betweenMoments(place, since, until)));
    return items.flatMap((item) => eventOf(item) ?? []);
  }

  /** All whose sort keys begin so, whatever their moment. */
  async beginning(place: Place): Promise<StoredEvent[]> {
    const items = await this.#database.queryAll(queryOf(place, begins(sortOf(place), place.prefix ?? '')));
    return items.flatMap((item) => eventOf(item) ?? []);
  }

  /** Newest first, as long as the reader goes on. */
  async *newest(place: Place, { since, until }: Span = {}, cursor?: string): AsyncGenerator<StoredEvent> {
    const query = { ...queryOf(place, betweenMoments(place, since, until)), backwards: true, limit: SMALL_PAGE };
    let after = cursor === undefined ? undefined : keysIn(cursor);
    do {
      const page = await this.#database.query({ ...query, ...(after && { after }) });
      for (const item of page.items) {
        const event = eventOf(item);
        if (event) yield event;
      }
      after = page.last;
    } while (after);
  }

  /** Newest first, as many as are asked for. */
  async page(place: Place, span: Span, limit: number, cursor?: string): Promise<Found> {
    const events: StoredEvent[] = [];
    for await (const event of this.newest(place, span, cursor)) {
      if (events.length === limit) return { events, cursor: cursorBehind(events.at(-1)!, place.index) };
      events.push(event);
    }
    return { events };
  }
}

/** Events are up to 200 KB large; who wants the newest hardly ever wants many. */
const SMALL_PAGE = 25;

const pkOf = ({ index }: Pick<Place, 'index'>): string => (index === undefined ? 'pk' : `gsi${index}pk`);
const sortOf = ({ index }: Pick<Place, 'index'>): string => (index === undefined ? 'sk' : `gsi${index}sk`);

const queryOf = (place: Place, sort: Condition): Query => ({
  ...(place.index !== undefined && { index: indexName(place.index) }),
  where: all(equals(pkOf(place), place.partition), sort),
});

function betweenMoments(place: Place, since: number | undefined, until: number | undefined): Condition {
  const { prefix = '' } = place;
  const first = prefix + (since === undefined ? ANY_TIME : from(since));
  // `~` sorts behind everything that follows the moment.
  const last = prefix + (until === undefined ? END_OF_TIME : `${from(until)}~`);
  return between(sortOf(place), first, last);
}

/** Names the place in the index: what DynamoDB itself answers is behind a whole page. */
export function cursorBehind(event: StoredEvent, index: IndexNumber | undefined): string {
  const names = ['pk', 'sk', ...(index === undefined ? [] : [pkOf({ index }), sortOf({ index })])];
  const keys = names.map((name) => [name, (event as unknown as Record<string, string>)[name]!]);
  return Buffer.from(JSON.stringify(Object.fromEntries(keys))).toString('base64url');
}

function keysIn(cursor: string): Item {
  try {
    const keys = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as Item;
    if (Object.values(keys).every((value) => typeof value === 'string')) return keys;
  } catch {
    // Refused below.
  }
  throw invalidField('cursor', 'must be one that this query has answered.');
}
