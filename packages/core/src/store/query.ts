import type { Job, JobState } from '../job/job.ts';

export interface JobKey {
  tenant: string;
  id: string;
}

/** Every field narrows; an absent field does not. */
export interface JobFilter {
  tenant: string;
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

/** Newest first by id; the cursor is opaque and stays good while rows come and go. */
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

/** Rows of all tenants whose `nextAt` is at or before `now`, earliest first. */
export interface DueQuery {
  now: number;
  limit: number;
}

export interface DueAnswer {
  jobs: Job[];
  /** The earliest `nextAt` after those, so that the sweep knows how long it may sleep; null: nothing waits. */
  nextAt: number | null;
}
