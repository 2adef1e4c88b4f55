import type { Job } from '../job/job.ts';
import type { Hint } from './transport.ts';

/** Hints for the jobs among these that can be claimed. Jobs that wait are hinted when they are ticked. */
export function hintsFor(jobs: readonly Job[]): Hint[] {
  return jobs.filter(({ rank }) => rank !== null).map(hintOf);
}

function hintOf({ tenant, id: jobId, queue, type, priority, attempt }: Job): Hint {
  return { tenant, jobId, queue, type, priority, attempt, delayMs: 0 };
}
