import { WaybillError } from '../../errors.ts';
import type { Job } from '../../job/job.ts';
import { jobMatches } from '../filters.ts';
import type { DueAnswer, DueQuery, JobFilter, JobKey, JobPage, JobQuery, Page } from '../query.ts';
import { admissionTimes, admitAll } from './slots.ts';
import type { MemoryState } from './state.ts';

export const get = (state: MemoryState, keys: readonly JobKey[]): (Job | null)[] =>
  keys.map(({ tenant, id }) => state.get(tenant, id) ?? null);

export const list = (state: MemoryState, { filter, ...query }: JobQuery): JobPage =>
  pageOf(matching(state, filter), query);

/** Newest first by id. */
export function pageOf<T extends { id: string }>(
  found: readonly T[],
  { limit, cursor }: { limit: number; cursor?: string },
): Page<T> {
  const before = cursor === undefined ? undefined : readCursor(cursor);
  const rest = found.filter(({ id }) => before === undefined || id < before).sort((a, b) => (a.id < b.id ? 1 : -1));
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return last && rest.length > items.length ? { items, cursor: writeCursor(last.id) } : { items };
}

export const count = (state: MemoryState, filter: JobFilter, { atMost }: { atMost: number }): number =>
  Math.min(matching(state, filter).length, atMost);

export function due(state: MemoryState, { now, limit }: DueQuery): DueAnswer {
  const admitted = admitAll(state, now);
  const jobs = byTime(state.rows(), now, limit);
  const crons = byTime(
    [...state.crons.values()].filter((cron) => cron.enabled),
    now,
    limit,
  );
  const flows = byTime([...state.workflows.values()], now, limit);
  const moments = [...jobs.later, ...crons.later, ...flows.later, ...admissionTimes(state, now)];
  const nextAt = moments.length === 0 ? null : Math.min(...moments);
  return { jobs: jobs.due, crons: crons.due, workflows: flows.due, admitted, unreadable: [], nextAt };
}

/** What is due, earliest first, and the moment of whatever was not answered. */
function byTime<T extends { nextAt: number | null }>(
  all: readonly T[],
  now: number,
  limit: number,
): { due: T[]; later: number[] } {
  const waiting = all.filter((one) => one.nextAt !== null).sort((a, b) => a.nextAt! - b.nextAt!);
  const due = waiting.filter((one) => one.nextAt! <= now).slice(0, limit);
  return { due, later: waiting.slice(due.length, due.length + 1).map((one) => one.nextAt!) };
}

const matching = (state: MemoryState, filter: JobFilter): Job[] =>
  state.rows().filter((job) => jobMatches(job, filter));

const writeCursor = (id: string): string => Buffer.from(id).toString('base64url');

function readCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (writeCursor(id) === cursor) return id;
  throw new WaybillError('invalid_request', 'The cursor was not made by this store.');
}
