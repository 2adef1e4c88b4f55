import type { Lack } from '../blobs/payloads.ts';
import type { Job } from '../job/job.ts';
import type { JobFilter } from '../store/query.ts';
import type { QueueStats } from '../store/queues.ts';
import type { Store } from '../store/store.ts';
import type { UnknownType } from '../waybill.ts';
import type { Reason } from './explanation.ts';

/** Counting jobs of a queue stops here. */
export const COUNTED_AT_MOST = 10_000;
/** Jobs that a reason names. */
export const MOST_NAMED = 10;

const SLICE = 200;

/** Everything that a family of reasons may look at. */
export interface Situation {
  readonly job: Job;
  readonly now: number;
  /** Its rows come as they are stored: no payload is opened. */
  readonly store: Store;
  /** Null: nothing was ever enqueued or set up there. Read once, however many ask. */
  queue(): Promise<QueueStats | null>;
  /** A payload of the job that could not be had. */
  readonly lack?: Lack | undefined;
  /** Another job of the same type that a worker has lately handed back to this process. */
  readonly unknownType?: Pick<UnknownType, 'reason' | 'nextTryAt'> | undefined;
}

/** Reasons of one kind; none where they do not apply. */
export interface Family {
  /** For the sentence that it could not be looked at. */
  what: string;
  of(situation: Situation): Reason[] | Promise<Reason[]>;
}

/** The first jobs that match, among at most so many rows. */
export async function someJobs(
  store: Pick<Store, 'list'>,
  filter: JobFilter,
  { wanted, test = () => true, pages = 1 }: { wanted: number; test?: (job: Job) => boolean; pages?: number },
): Promise<Job[]> {
  const found: Job[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pages; page += 1) {
    const read = await store.list({ filter, limit: SLICE, ...(cursor !== undefined && { cursor }) });
    found.push(...read.items.filter(test));
    cursor = read.cursor;
    if (cursor === undefined || found.length >= wanted) break;
  }
  return found.slice(0, wanted);
}

export const timeOf = (ms: number): string => new Date(ms).toISOString();
