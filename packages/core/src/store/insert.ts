import type { LogEvent } from '../events/job-event.ts';
import type { Job } from '../job/job.ts';
import type { LimitRule } from '../limits/limit.ts';
import type { Change } from './apply.ts';
import type { WorkflowRecord } from './workflow-record.ts';

/** A row as it enters the store, with the events that tell of it: its own first. */
export interface NewJob {
  job: Job;
  events: readonly LogEvent[];
  /** Becomes the rule of the job's limit key, when it differs from the one that is set. */
  limit?: LimitRule;
  unique?: UniqueClaim;
}

/**
 * A unique key maps to its newest job and is never released. The first try expects nobody; when somebody owns the key,
 * the engine decides by the owner's state and age, and tries again with the owner as it saw it. Key, owner and new job
 * change in one transaction.
 */
export interface UniqueClaim {
  key: string;
  /** The owner as it was read; null: the key must be free. An owner whose row is gone counts as nobody. */
  owner: { id: string; version: number } | null;
  /** What happens to the owner, when it is replaced. */
  replace?: Change;
}

/**
 * `child` may start only after `parent` has completed. Both are ids of jobs of the same tenant, or one of them names a join:
 * not a job, but a point where edges meet, so that m jobs wait for n others by n + m edges. Whoever waits for a join waits
 * for all its parents and for nothing else. Its id is made like that of a job.
 */
export interface Edge {
  parent: string;
  child: string;
  /** `into_join`: the child is a join. `out_of_join`: the parent is one. */
  join?: 'into_join' | 'out_of_join';
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
  /** In the order in which a child shall see its parents' results. */
  edges?: readonly Edge[];
  /** The workflow that these jobs make up, or a running one that they join. No two of its nodes have the same name. */
  workflow?: { create: WorkflowRecord } | { join: string };
}

/** What a write has made of rows. */
export interface Stored {
  /** The rows that it made, as stored; limited ones may have been admitted on the way. */
  jobs: Job[];
  /** Rows that were there before and got a limit slot by this write. */
  admitted: Job[];
}

/** Of several conflicts the one of the lowest index is answered; `exists` before the others, `named` and `closed` last. */
export type InsertAnswer =
  /** In the order given. */
  | ({ status: 'inserted' } & Stored)
  /** A row with this id is there already. Nothing of the group was stored. */
  | { status: 'exists'; index: number; job: Job }
  /** Another job was inserted under this idempotency key. Nothing of the group was stored. */
  | { status: 'repeated'; index: number; job: Job }
  /**
   * The unique key belongs to this job, or to this version of it. Nothing of the group was stored. `others`: all further
   * jobs of the group whose keys belong to jobs of the store, in order; absent where there are none.
   */
  | ({ status: 'taken'; others?: readonly TakenKey[] } & TakenKey)
  /** The workflow that these jobs belong to has a node of this name already. Nothing of the group was stored. */
  | { status: 'named'; index: number }
  /** The workflow to join is not running. Nothing of the group was stored. */
  | { status: 'closed' };

/** A job of a group whose unique key belongs to another one. */
export interface TakenKey {
  index: number;
  /** The owner of the key. */
  job: Job;
}

/** The answer to a group of which these keys are taken, in the order of its jobs; undefined where none is. */
export function takenAnswer([first, ...others]: readonly TakenKey[]): InsertAnswer | undefined {
  return first && { status: 'taken', ...first, ...(others.length > 0 && { others }) };
}

/** What several inserts have stored together; those that were refused have stored nothing. */
export function storedBy(answers: readonly InsertAnswer[]): Stored {
  const stored = answers.filter((answer) => answer.status === 'inserted');
  return { jobs: stored.flatMap(({ jobs }) => jobs), admitted: stored.flatMap(({ admitted }) => admitted) };
}
