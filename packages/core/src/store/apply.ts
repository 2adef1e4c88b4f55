import type { LogEvent } from '../events/job-event.ts';
import type { Job } from '../job/job.ts';
import type { LimitRule } from '../limits/limit.ts';

/**
 * What the row must still be for a change to go in.
 * By lease: the run named by the token is active, or the same run was settled with the same outcome already. The change
 * writes the whole row from the claimer's copy, which is sound because during a run only `extend` writes the row.
 * By version: nobody wrote since the row was read. `nextAt` and `holdsSlot` are compared too, since a heartbeat moves
 * only the one and an admission only the other.
 */
export type Expectation =
  | { by: 'lease'; run: number; claimId: string }
  | { by: 'version'; version: number; nextAt: number | null; holdsSlot: boolean };

/**
 * One compare-and-set of one row with the events that tell of it. One change is atomic; a batch need not be. Several
 * changes of one row in one call happen in the order given.
 */
export interface Change {
  expect: Expectation;
  /** The row as it shall be. Identity, creation time and `spec` never change and need not be written. */
  job: Job;
  events: readonly LogEvent[];
  /**
   * `release`: the job gives its limit slot back, and the next parked job of the key is admitted.
   * `request`: the job is available again and wants a slot; it gets one if there is one, and stays parked if not. A
   * slot that it held before counts as given back first.
   */
  slot?: 'release' | 'request';
  /** With `request`, the rule that the job came with: it holds only where the limit was removed, because nobody used it. */
  limit?: LimitRule;
  /** The job comes back to life: only if its unique key still belongs to it, else it answers `lost`. */
  ownsKey?: boolean;
}

export type ApplyAnswer =
  /**
   * `repeated`: this very outcome of this run was written before; nothing was written now.
   * `admitted`: jobs that got a limit slot by this change, itself included.
   */
  { status: 'applied'; repeated: boolean; admitted: Job[] } | { status: 'lost' };
