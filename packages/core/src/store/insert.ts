import type { JobEvent } from '../events/job-event.ts';
import type { Job } from '../job/job.ts';

/** A row as it enters the store, with the events that tell of it. */
export interface NewJob {
  job: Job;
  events: readonly JobEvent[];
}

/** `child` may start only after `parent` has completed. Both are ids of jobs of the same tenant. */
export interface Edge {
  parent: string;
  child: string;
}

/**
 * All or nothing, whatever its size. A store whose transactions are smaller stages the rows, commits with one item
 * and activates them afterwards; until the commit nobody sees any of them.
 *
 * A job with a limit key arrives parked (`rank` null, `holdsSlot` false) and is admitted in the same transaction when
 * its limit has a free slot.
 */
export interface InsertGroup {
  jobs: readonly NewJob[];
  edges?: readonly Edge[];
}

export type InsertAnswer =
  /** The rows as stored, in the order given; limited ones may have been admitted on the way. */
  | { status: 'inserted'; jobs: Job[] }
  /** A row with this id is there already. Nothing of the group was stored. */
  | { status: 'exists'; index: number; job: Job }
  /** Another job was inserted under this idempotency key. Nothing of the group was stored. */
  | { status: 'repeated'; index: number; job: Job };
