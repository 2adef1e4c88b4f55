import { type Job, type JobFilter, type JobQuery, jobMatches, type Page, WaybillError } from '@waybill/core';
import type { Base } from './base.ts';
import { jobKey } from './keys.ts';
import { readRows, toJobs } from './read.ts';
import { idsBackwards } from './walk.ts';

/** Rows looked at for one page: a filter that lets little through answers a short page and a cursor. */
const MOST_PER_PAGE = 1000;
/** Rows looked at for one count: beyond it the answer is at least what was found. */
const MOST_COUNTED = 10_000;
const AT_ONCE = 100;

export async function list(base: Base, { filter, limit, cursor }: JobQuery): Promise<Page<Job>> {
  const before = cursor === undefined ? undefined : readCursor(cursor);
  const items: Job[] = [];
  let [last, looked] = ['', 0];
  for await (const jobs of inChunks(base, filter, before, () => limit - items.length)) {
    for (const [id, job] of jobs) {
      if (job && jobMatches(job, filter)) items.push(job);
      last = id;
    }
    looked += jobs.length;
    if (items.length >= limit || looked >= MOST_PER_PAGE) return { items, cursor: writeCursor(last) };
  }
  return { items };
}

export async function count(base: Base, filter: JobFilter, { atMost }: { atMost: number }): Promise<number> {
  let [found, looked] = [0, 0];
  if (atMost === 0) return 0;
  for await (const jobs of inChunks(base, filter, undefined, () => AT_ONCE)) {
    for (const [, job] of jobs) if (job && jobMatches(job, filter)) found += 1;
    looked += jobs.length;
    if (found >= atMost || looked >= MOST_COUNTED) break;
  }
  return Math.min(found, atMost);
}

/** Rows of a walk, read a few at once. */
export async function* inChunks(
  base: Base,
  filter: JobFilter,
  before: string | undefined,
  wanted: () => number,
): AsyncGenerator<(readonly [id: string, job: Job | null])[]> {
  let ids: string[] = [];
  const read = async () => {
    const own = ids;
    ids = [];
    const keys = own.map((id) => jobKey(filter.tenant, id));
    const jobs = await toJobs(base, await readRows(base, keys));
    return own.map((id, index) => [id, jobs[index]!] as const);
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
