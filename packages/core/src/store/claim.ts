import type { Job } from '../job/job.ts';
import type { InsertAnswer } from './insert.ts';

export interface ClaimRequest {
  tenant: string;
  /** In order: a job of an earlier queue always goes first. Paused queues give nothing. */
  queues: readonly string[];
  limit: number;
  /** Made by the caller. The same id again answers the jobs that it holds already and claims no others. */
  claimId: string;
  workerId: string;
  /** Lease length for jobs that do not bring their own `visibilityMs`. */
  leaseMs: number;
  now: number;
}

/** What `insertAndClaim` answers: each as by itself. */
export interface InsertedAndClaimed {
  answer: InsertAnswer;
  /** Null: nothing was claimed, since the insert would have had to wait for it. Whoever asked asks again by itself. */
  claimed: Job[] | null;
}

/** Queues that a claim has just found nothing in. */
export interface OpeningQuery {
  tenant: string;
  queues: readonly string[];
  now: number;
}

/** Claims given jobs, because something hinted that they are ready. */
export interface ClaimByIdRequest {
  tenant: string;
  ids: readonly string[];
  /** A job of another queue is not given: a message can name any job. @defaultValue all queues */
  queues?: readonly string[];
  claimId: string;
  workerId: string;
  leaseMs: number;
  now: number;
}

/**
 * Why a hinted job was not given, or the job. A `held` job is under somebody's live lease, or was claimed and cannot be
 * read: such a row is given to nobody, and the sweep names it when its lease ran out. One that is `elsewhere` could be
 * claimed, now or when its queue lets it, but is of a queue that was not asked for.
 */
export type ClaimAnswer =
  | { status: 'claimed'; job: Job }
  | { status: 'not_due' | 'parked' | 'paused' | 'held' | 'finished' | 'elsewhere' | 'unknown' };

/** The answer for a row that was claimed, if it can be read. */
export function claimedOf(read: () => Job): ClaimAnswer {
  try {
    return { status: 'claimed', job: read() };
  } catch {
    return { status: 'held' };
  }
}
