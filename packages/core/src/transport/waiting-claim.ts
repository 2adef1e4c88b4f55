import type { Job } from '../job/job.ts';
import type { ClaimRequest } from '../store/claim.ts';

/** Somebody in this process who waits for a job. Whoever takes it must serve it. */
export interface WaitingClaim {
  readonly request: ClaimRequest;
  /** What it gets; null: nobody knows, and it asks for itself, under the same claim id. */
  serve(jobs: Promise<Job[] | null>): void;
}
