import type { Job } from './job.ts';

/** The columns that decide when the engine must look at a row again. */
type Timed = Pick<
  Job,
  'state' | 'scheduledAt' | 'expiresAt' | 'leaseUntil' | 'timeoutAt' | 'advancePending' | 'createdAt' | 'finishedAt'
>;

/** The earliest of the given moments; null when there is none. */
function earliest(...moments: (number | null)[]): number | null {
  let first: number | null = null;
  for (const moment of moments) if (moment !== null && (first === null || moment < first)) first = moment;
  return first;
}

export function nextAtFor(job: Timed): number | null {
  switch (job.state) {
    case 'scheduled':
    case 'retryable':
      return earliest(job.scheduledAt, job.expiresAt);
    case 'available':
      return job.expiresAt;
    case 'active':
      return earliest(job.leaseUntil, job.timeoutAt);
    case 'pending':
      // A node that joined a running workflow: its parents may have finished before it came.
      return job.advancePending ? job.createdAt : null;
    case 'completed':
    case 'cancelled':
    case 'discarded':
      // A node's dependents are looked at off the settling path; the sweep does it when the settler died first.
      return job.advancePending ? job.finishedAt : null;
  }
}
