import { eventToWire } from '@waybill/client';
import {
  checkQueue,
  EVENT_TYPES,
  type EventFilter,
  type EventPage,
  type Events,
  type EventType,
  invalidField,
  isJobId,
} from '@waybill/core';
import { answer } from '../http/answer.ts';
import type { App, Ctx } from '../http/env.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';
import { RECORD_EVENT_TYPES } from '../records/kinds.ts';
import { streamEvents } from '../stream/sse.ts';
import type { Surface } from '../surface.ts';

const PARAMETERS = ['types', 'queues', 'job_id', 'after', 'from', 'limit'] as const;
/** Of the engine, and of the kinds of records that have routes here. */
const TYPES: readonly EventType[] = [...EVENT_TYPES, ...RECORD_EVENT_TYPES];
const DEFAULT_LIMIT = 100;
/** Slices of the log that one poll looks through for a first event that the filter lets pass. */
const MAX_SLICES = 50;

/** Where to begin, and what to let through. */
interface Reading {
  after?: string;
  filter: Partial<EventFilter>;
}

/** The event log: polled page by page, or as a stream of server-sent events. */
export function eventRoutes(app: App, surface: Surface): void {
  app.get('/ojs/v1/events', async (c) => {
    const query = new Query(c, PARAMETERS);
    const limit = query.limit(DEFAULT_LIMIT);
    const wantsStream = /\btext\/event-stream\b/i.test(c.req.header('Accept') ?? '') && c.req.method !== 'HEAD';
    const log = portOf(c).events;
    const reading = await readingOf(c, query, log, wantsStream);
    if (wantsStream) return streamEvents(c, reading, surface);
    const { events, cursor, atEnd, missed } = await readLog(log, reading, limit);
    return answer(c, { events: events.map(eventToWire), cursor, has_more: !atEnd, ...(missed && { missed }) });
  });
}

async function readingOf(c: Ctx, query: Query, log: Events, isStream: boolean): Promise<Reading> {
  const filter = filterOf(query);
  const after = query.string('after', { max: 4_096 });
  const from = query.oneOf('from', ['start', 'now']);
  if (after !== undefined && from !== undefined) throw invalidField('from', "contradicts 'after': send one of them.");
  // A browser that reconnects asks for the same address again, so what it has seen must beat what the address says.
  const seen = isStream ? c.req.header('Last-Event-ID') || undefined : undefined;
  const begin = seen ?? after ?? (from === 'now' ? await log.end() : undefined);
  if (begin === undefined) return { filter };
  // A stream has answered 200 before it reads, so a cursor that is none must be found out here.
  if (isStream) await log.read({ after: begin, filter, limit: 1 });
  return { after: begin, filter };
}

/** A page of the log. Reads on while the filter lets nothing through: an empty page before the end would only make the client ask again. */
export async function readLog(log: Events, reading: Reading, limit: number): Promise<EventPage> {
  let page = await log.read({ ...reading, limit });
  const { missed } = page;
  for (let slice = 1; slice < MAX_SLICES && page.events.length === 0 && !page.atEnd; slice += 1) {
    page = await log.read({ ...reading, after: page.cursor, limit });
  }
  return { ...page, missed: missed || page.missed };
}

function filterOf(query: Query): Partial<EventFilter> {
  const types = query.listOf('types', TYPES);
  const queues = query.list('queues')?.map((queue) => checkQueue(queue, 'queues'));
  const jobIds = query.list('job_id');
  if (jobIds?.some((id) => !isJobId(id))) throw invalidField('job_id', 'must be a UUIDv7 in lower case.');
  return { ...(types && { types }), ...(queues && { queues }), ...(jobIds && { jobIds }) };
}
