import { type JobFilter, type JobState, WaybillError } from '@waybill/core';
import type { Input, Output } from './protocol.ts';
import { prepare, type Query, type QueryName, readQuery } from './queries.ts';
import { AT, type Cell, type Row } from './rows.ts';
import type { Session } from './session.ts';

/** An index that holds few rows, and what a row must be to stand in it. */
interface Source {
  index: string;
  where: string;
  /** Every row in it is in this state, so nobody needs to look. */
  state?: JobState;
  /** Gives its rows in the order of ids. */
  sorted: boolean;
}

const READY: Source = { index: 'jobs_ready', where: 'rank is not null', state: 'available', sorted: false };
const PARKED: Source = {
  index: 'jobs_parked',
  where: `state = 'available' and rank is null and limit_key is not null`,
  state: 'available',
  sorted: false,
};
const SCHEDULED: Source = {
  index: 'jobs_due',
  where: `next_at is not null and state = 'scheduled'`,
  state: 'scheduled',
  sorted: false,
};
const RETRYABLE: Source = {
  index: 'jobs_due',
  where: `next_at is not null and state = 'retryable'`,
  state: 'retryable',
  sorted: false,
};
const ACTIVE: Source = { index: 'jobs_active', where: `state = 'active'`, state: 'active', sorted: false };
const PENDING: Source = { index: 'jobs_pending', where: `state = 'pending'`, state: 'pending', sorted: true };
const CANCELLED: Source = {
  index: 'jobs_unsuccessful',
  where: `state = 'cancelled' and dead = 0`,
  state: 'cancelled',
  sorted: true,
};
const DISCARDED: Source = {
  index: 'jobs_unsuccessful',
  where: `state = 'discarded' and dead = 0`,
  state: 'discarded',
  sorted: true,
};
const DEAD: Source = { index: 'jobs_unsuccessful', where: `state = 'discarded' and dead = 1`, sorted: true };
const WORKFLOW: Source = { index: 'jobs_workflow', where: 'workflow_id = ?6', sorted: true };

/** No row stands in two of these, so that answers can be put together. */
const SOURCES: Readonly<Record<JobState, readonly Source[] | null>> = {
  scheduled: [SCHEDULED],
  available: [READY, PARKED],
  pending: [PENDING],
  active: [ACTIVE],
  completed: null,
  retryable: [RETRYABLE],
  cancelled: [CANCELLED],
  discarded: [DISCARDED, DEAD],
};

/** So many rows are sorted in no time; where there are more, the newest jobs are likely to be among them. */
const FEW = 2000;

export function get({ sql }: Session, keys: Input<'get'>): Output<'get'> {
  return keys.map(({ tenant, id }) => sql['job-by-id'].get(tenant, id) ?? null);
}

export function list(session: Session, { filter, limit, cursor }: Input<'list'>): Output<'list'> {
  const sources = sourcesOf(filter);
  const before = cursor === undefined ? null : readCursor(cursor);
  const walk = sources === null || sources.some((source) => isMany(session, source, filter));
  const rows = (walk ? [null] : sources).flatMap((source) =>
    statement(session, 'list', source, filter).all(...filterCells(filter, source), before, limit + 1),
  );
  rows.sort(newestFirst);
  const page = rows.slice(0, limit);
  return { rows: page, cursor: rows.length > limit ? writeCursor(page.at(-1)![AT.id]) : null };
}

export function count(session: Session, { filter, atMost }: Input<'count'>): number {
  let found = 0;
  for (const source of sourcesOf(filter) ?? [null]) {
    const query = statement(session, 'count', source, filter);
    found += query.get<[number]>(...filterCells(filter, source), atMost - found)![0];
  }
  return found;
}

/** The indexes that hold every row which the filter lets through; null: only the table does. */
function sourcesOf({ states, dead, workflowId }: JobFilter): Source[] | null {
  if (workflowId !== undefined) return [WORKFLOW];
  if (dead === true) return [DEAD];
  if (states === undefined) return null;
  const sources = new Set<Source>();
  for (const state of states) {
    const some = SOURCES[state];
    if (some === null) return null;
    for (const source of some) sources.add(source);
  }
  return [...sources];
}

/** Without an order by id, a page needs all rows of the source, so it must not hold many. */
function isMany(session: Session, source: Source, filter: JobFilter): boolean {
  if (source.sorted) return false;
  const all: JobFilter = { tenant: filter.tenant, ...(filter.queues ? { queues: filter.queues } : {}) };
  const [found] = statement(session, 'count', source, all).get<[number]>(...filterCells(all, source), FEW)!;
  return found >= FEW;
}

const prepared = new WeakMap<Session, Map<string, Query>>();

function statement(session: Session, name: QueryName & ('list' | 'count'), source: Source | null, filter: JobFilter) {
  if (source === null) return session.sql[name];
  const where = source === READY && filter.queues ? `${source.where} and ${OF_QUEUES}` : source.where;
  const cache = prepared.get(session) ?? new Map<string, Query>();
  prepared.set(session, cache);
  const key = `${name} ${where}`;
  const query = cache.get(key) ?? prepare(session.db, narrowed(readQuery(name), source.index, where));
  cache.set(key, query);
  return query;
}

/** Said once more without the way out for null, so that the index finds the queues. */
const OF_QUEUES = 'queue in (select value from json_each(?3))';

const narrowed = (text: string, index: string, where: string): string =>
  text.replace('from jobs\nwhere', `from jobs indexed by ${index}\nwhere ${where} and`);

function filterCells(filter: JobFilter, source: Source | null): Cell[] {
  return [
    filter.tenant,
    source?.state === undefined ? listCell(filter.states) : null,
    listCell(filter.queues),
    listCell(filter.types),
    filter.dead === undefined ? null : Number(filter.dead),
    filter.workflowId ?? null,
    filter.errorType ?? null,
    filter.createdAfter ?? null,
    filter.createdBefore ?? null,
    filter.finishedAfter ?? null,
    filter.finishedBefore ?? null,
  ];
}

const listCell = (values: readonly string[] | undefined): Cell => (values ? JSON.stringify(values) : null);

const writeCursor = (id: string): string => Buffer.from(id).toString('base64url');

function readCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (writeCursor(id) === cursor) return id;
  throw new WaybillError('invalid_request', 'The cursor was not made by this store.');
}

const newestFirst = (a: Row, b: Row): number => (a[AT.id] < b[AT.id] ? 1 : -1);
