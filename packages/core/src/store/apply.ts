import type { JobEvent } from '../events/job-event.ts';
import type { Job } from '../job/job.ts';

/**
 * What the row must still be for a change to go in.
 * By lease: the run named by the token is active, or the same run was settled with the same outcome already.
 * By version: nobody wrote since the row was read. `nextAt` is compared too, since a heartbeat moves only that.
 */
export type Expectation =
  | { by: 'lease'; run: number; claimId: string }
  | { by: 'version'; version: number; nextAt: number | null };

/** One compare-and-set of one row with the events that tell of it. One change is atomic; a batch need not be. */
export interface Change {
  expect: Expectation;
  /** The row as it shall be. Identity, creation time and `spec` never change and need not be written. */
  job: Job;
  events: readonly JobEvent[];
  /**
   * `release`: the job gives its limit slot back, and the next parked job of the key is admitted.
   * `request`: the job is available again and wants a slot; it gets one if there is one, and stays parked if not.
   */
  slot?: 'release' | 'request';
}

export type ApplyAnswer =
  /** `repeated`: this very outcome of this run was written before; nothing was written now. */
  { status: 'applied'; repeated: boolean; admitted: Job[] } | { status: 'lost' };
