import { WaybillError } from '../errors.ts';
import type { Job } from '../job/job.ts';

/** A row whose columns are damaged: a person wrote to the database by hand, or a newer version did. */
export interface UnreadableRow {
  /** `batch`: a large insert that was committed and whose rows are still being put in their places. */
  kind: 'job' | 'cron' | 'limit' | 'batch' | 'workflow';
  tenant: string;
  /** Id of the job, batch or workflow, name of the cron, key of the limit. */
  id: string;
  cause: unknown;
}

/**
 * Decodes each row by itself, so that one that cannot be read does not hide the others. `isOwn` tells whether a failure is
 * the row's own; any other ends the call.
 */
export function readEach<R, T, const N extends object>(
  rows: readonly R[],
  decode: (row: R) => T,
  nameOf: (row: R) => N,
  isOwn: (error: unknown) => boolean = () => true,
): { read: T[]; unreadable: (N & { cause: unknown })[] } {
  const read: T[] = [];
  const unreadable: (N & { cause: unknown })[] = [];
  for (const row of rows) {
    try {
      read.push(decode(row));
    } catch (cause) {
      if (!isOwn(cause)) throw cause;
      unreadable.push({ ...nameOf(row), cause });
    }
  }
  return { read, unreadable };
}

interface ReadPage {
  items: Job[];
  unreadable?: string[];
}

/** A page of a list: rows that cannot be read are named beside those that can. */
export function readPage<R>(rows: readonly R[], decode: (row: R) => Job, idOf: (row: R) => string): ReadPage {
  const { read: items, unreadable } = readEach(rows, decode, (row) => ({ id: idOf(row) }));
  return unreadable.length === 0 ? { items } : { items, unreadable: unreadable.map(({ id }) => id) };
}

/** What a caller hears who asks for such a job by its id. */
export const unreadableJob = (id: string, cause: unknown): WaybillError =>
  new WaybillError('internal', `The row of the job ${id} cannot be read: it is damaged, or a newer version wrote it.`, {
    cause,
  });
