import { idRange, type JobFilter } from '@waybill/core';
import { readCursor, writeCursor } from '../cursor.ts';
import { jobRow, jobRows } from './job-rows.ts';
import { prepare, type Query } from './prepare.ts';
import type { Input, Output } from './protocol.ts';
import { type QueryName, readQuery } from './queries.ts';
import { AT, type Cell, type Row } from './rows.ts';
import type { Session } from './session.ts';
import { BY_ID, DEAD, READY, SOURCES, type Source, WORKFLOW } from './sources.ts';

/** So many rows are sorted in no time; where there are more, the newest jobs are likely to be among them. */
const FEW = 2000;

export function get({ sql }: Session, keys: Input<'get'>): Output<'get'> {
  return keys.map(({ tenant, id }) => jobRow(sql['job-by-id'], tenant, id) ?? null);
}

export function list(session: Session, { filter, limit, cursor }: Input<'list'>): Output<'list'> {
  const sources = sourcesOf(filter);
  const before = cursor === undefined ? null : readCursor(cursor);
  const walk = sources === null || sources.some((source) => isMany(session, source, filter));
  const rows = (walk ? [null] : sources).flatMap((source) =>
    jobRows(
      statement(session, 'list', source, filter),
      ...filterCells(filter, source),
      before,
      limit + 1,
      ...rangeCells(filter, source),
    ),
  );
  rows.sort(newestFirst);
  const page = rows.slice(0, limit);
  return { rows: page, cursor: rows.length > limit ? writeCursor(page.at(-1)![AT.id]) : null };
}

export function count(session: Session, { filter, atMost }: Input<'count'>): number {
  let found = 0;
  for (const source of sourcesOf(filter) ?? [null]) found += countFrom(session, source, filter, atMost - found);
  return found;
}

/** Counts the rows of one index; null: of the table. */
export function countFrom(session: Session, source: Source | null, filter: JobFilter, atMost: number): number {
  const query = statement(session, 'count', source, filter);
  // In place of the id to continue behind, which a count does not have.
  const cells = source === BY_ID ? [atMost, null, ...rangeCells(filter, source)] : [atMost];
  return query.get<[number]>(...filterCells(filter, source), ...cells)![0];
}

/** The indexes that hold every row which the filter lets through; null: only the table does. */
function sourcesOf({ idPrefix, states, dead, workflowId }: JobFilter): Source[] | null {
  if (idPrefix !== undefined) return [BY_ID];
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
  return countFrom(session, source, all, FEW) >= FEW;
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

export const narrowed = (text: string, index: string, where: string): string =>
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

/** The last parameters of a statement that finds its rows by their ids. */
const rangeCells = ({ idPrefix }: JobFilter, source: Source | null): Cell[] => {
  if (source !== BY_ID || idPrefix === undefined) return [];
  const { first, last } = idRange(idPrefix);
  return [first, last];
};

const listCell = (values: readonly string[] | undefined): Cell => (values ? JSON.stringify(values) : null);

const newestFirst = (a: Row, b: Row): number => (a[AT.id] < b[AT.id] ? 1 : -1);
