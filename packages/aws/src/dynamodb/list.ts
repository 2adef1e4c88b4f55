import { type Job, type JobFilter, type JobPage, type JobQuery, jobMatches, WaybillError } from '@waybill/core';
import type { Base } from './base.ts';
import { jobKey } from './keys.ts';
import { readableJobs, readRows } from './read.ts';
import { headOf } from './rows.ts';
import { idsBackwards } from './walk.ts';

/** Rows looked at for one page: a filter that lets little through answers a short page and a cursor. */
const MOST_PER_PAGE = 1000;
/** Rows looked at for one count: beyond it the answer is at least what was found. */
const MOST_COUNTED = 10_000;
const AT_ONCE = 100;

export async function list(base: Base, { filter, limit, cursor }: JobQuery): Promise<JobPage> {
  const before = cursor === undefined ? undefined : readCursor(cursor);
  const items: Job[] = [];
  const unreadable: string[] = [];
  const page = (): JobPage => (unreadable.length === 0 ? { items } : { items, unreadable });
  let [last, looked] = ['', 0];
  for await (const jobs of inChunks(base, filter, before, () => limit - items.length - unreadable.length)) {
    for (const { id, job, isReadable } of jobs) {
      last = id;
      if (!job || !jobMatches(job, filter)) continue;
      if (isReadable) items.push(job);
      else unreadable.push(id);
    }
    looked += jobs.length;
    const isFull = items.length + unreadable.length >= limit;
    if (isFull || looked >= MOST_PER_PAGE) return { ...page(), cursor: writeCursor(last) };
  }
  return page();
}

export async function count(base: Base, filter: JobFilter, { atMost }: { atMost: number }): Promise<number> {
  let [found, looked] = [0, 0];
  if (atMost === 0) return 0;
  for await (const jobs of inChunks(base, filter, undefined, () => AT_ONCE)) {
    for (const { job } of jobs) if (job && jobMatches(job, filter)) found += 1;
    looked += jobs.length;
    if (found >= atMost || looked >= MOST_COUNTED) break;
  }
  return Math.min(found, atMost);
}

interface Walked {
  id: string;
  /** Null: it is gone. Of a row that cannot be read as much as can be. */
  job: Job | null;
  isReadable: boolean;
}

/** Rows of a walk, read a few at once. */
export async function* inChunks(
  base: Base,
  filter: JobFilter,
  before: string | undefined,
  wanted: () => number,
): AsyncGenerator<Walked[]> {
  let ids: string[] = [];
  const read = async () => {
    const own = ids;
    ids = [];
    const keys = own.map((id) => jobKey(filter.tenant, id));
    const rows = await readRows(base, keys);
    const there = rows.filter((row) => row !== undefined);
    const jobs = new Map((await readableJobs(base, there)).map((job, index) => [there[index]!, job]));
    return own.map((id, index) => {
      const row = rows[index];
      const job = row && jobs.get(row);
      return { id, job: job ?? (row ? headOf(row) : null), isReadable: Boolean(job) };
    });
  };
  for await (const id of idsBackwards(base, filter, before)) {
    if (id === before) continue;
    ids.push(id);
    if (ids.length >= Math.min(AT_ONCE, wanted())) yield await read();
  }
  if (ids.length > 0) yield await read();
}

export const writeCursor = (id: string): string => Buffer.from(id).toString('base64url');

export function readCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (writeCursor(id) === cursor) return id;
  throw new WaybillError('invalid_request', 'The cursor was not made by this store.');
}
