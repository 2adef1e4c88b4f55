import { WaybillError } from '../../errors.ts';
import { type Job, lastError } from '../../job/job.ts';
import type { DueAnswer, DueQuery, JobFilter, JobKey, JobQuery, Page } from '../query.ts';
import type { MemoryState } from './state.ts';

export const get = (state: MemoryState, keys: readonly JobKey[]): (Job | null)[] =>
  keys.map(({ tenant, id }) => state.get(tenant, id) ?? null);

export function list(state: MemoryState, { filter, limit, cursor }: JobQuery): Page<Job> {
  const before = cursor === undefined ? undefined : readCursor(cursor);
  const rest = matching(state, filter)
    .filter((job) => before === undefined || job.id < before)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return last && rest.length > items.length ? { items, cursor: writeCursor(last.id) } : { items };
}

export const count = (state: MemoryState, filter: JobFilter, { atMost }: { atMost: number }): number =>
  Math.min(matching(state, filter).length, atMost);

export function due(state: MemoryState, { now, limit }: DueQuery): DueAnswer {
  const waiting = state
    .rows()
    .filter((job) => job.nextAt !== null)
    .sort((a, b) => a.nextAt! - b.nextAt! || (a.id < b.id ? -1 : 1));
  const jobs = waiting.filter((job) => job.nextAt! <= now).slice(0, limit);
  return { jobs, nextAt: waiting[jobs.length]?.nextAt ?? null };
}

const matching = (state: MemoryState, filter: JobFilter): Job[] => state.rows().filter((job) => matches(job, filter));

function matches(job: Job, filter: JobFilter): boolean {
  const error = lastError(job);
  return (
    job.tenant === filter.tenant &&
    (filter.states?.includes(job.state) ?? true) &&
    (filter.queues?.includes(job.queue) ?? true) &&
    (filter.types?.includes(job.type) ?? true) &&
    (filter.dead === undefined || job.dead === filter.dead) &&
    (filter.workflowId === undefined || job.workflowId === filter.workflowId) &&
    (filter.errorType === undefined || error?.type === filter.errorType || error?.code === filter.errorType) &&
    (filter.createdAfter === undefined || job.createdAt > filter.createdAfter) &&
    (filter.createdBefore === undefined || job.createdAt < filter.createdBefore) &&
    (filter.finishedAfter === undefined || (job.finishedAt !== null && job.finishedAt > filter.finishedAfter)) &&
    (filter.finishedBefore === undefined || (job.finishedAt !== null && job.finishedAt < filter.finishedBefore))
  );
}

const writeCursor = (id: string): string => Buffer.from(id).toString('base64url');

function readCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (writeCursor(id) === cursor) return id;
  throw new WaybillError('invalid_request', 'The cursor was not made by this store.');
}
