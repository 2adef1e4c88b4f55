import type { Job, JobState } from '../job/job.ts';
import type { CronRecord } from './crons.ts';
import type { UnreadableRow } from './unreadable.ts';
import type { WorkflowRecord } from './workflow-record.ts';

export interface JobKey {
  tenant: string;
  id: string;
}

/** Every field narrows; an absent field does not. */
export interface JobFilter {
  tenant: string;
  /** The first characters of the id, as `isIdPrefix` has it. Every store finds them by an index. */
  idPrefix?: string;
  states?: readonly JobState[];
  queues?: readonly string[];
  types?: readonly string[];
  /** Only jobs in the dead-letter set (true) or outside of it (false). */
  dead?: boolean;
  workflowId?: string;
  /** Type or code of the newest error. */
  errorType?: string;
  createdAfter?: number;
  createdBefore?: number;
  finishedAfter?: number;
  finishedBefore?: number;
}

/**
 * Newest first by id; the cursor is opaque and stays good while rows come and go. A page may be short or empty and have
 * a cursor all the same.
 */
export interface JobQuery {
  filter: JobFilter;
  limit: number;
  cursor?: string;
}

export interface Page<T> {
  items: T[];
  /** Absent on the last page. */
  cursor?: string;
}

export interface JobPage extends Page<Job> {
  /** Ids of jobs that belong on this page and whose rows cannot be read; absent where there are none. */
  unreadable?: string[];
}

/**
 * What must be looked at by `now`, of all tenants, earliest first. The store may use the call to finish what is its own
 * business: jobs whose rate lets them start again are given their slots, half-done inserts are completed.
 */
export interface DueQuery {
  now: number;
  limit: number;
}

export interface DueAnswer {
  jobs: Job[];
  crons: CronRecord[];
  workflows: WorkflowRecord[];
  /** Jobs that the store itself has made claimable by this call. */
  admitted: Job[];
  /** Rows that are due and cannot be read. They stay as they are: a newer version may be able to read them. */
  unreadable: UnreadableRow[];
  /**
   * When to look again, whatever for, so that the sweep knows how long it may sleep; null: nothing waits. It has come
   * already when more was due than `limit`.
   */
  nextAt: number | null;
}
