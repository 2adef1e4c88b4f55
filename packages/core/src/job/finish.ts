import { evolve, type Fact, type Transition } from './evolve.ts';
import type { Job } from './job.ts';

/** Ends a job: no lease, no alarm, no slot; a workflow node still has its dependents to look at. */
export function finish(
  job: Job,
  end: Pick<Job, 'state' | 'outcome'> & Partial<Pick<Job, 'result' | 'errors' | 'dead'>>,
  facts: readonly Fact[],
  now: number,
): Transition {
  const patch = {
    ...end,
    finishedAt: now,
    scheduledAt: null,
    leaseUntil: null,
    timeoutAt: null,
    holdsSlot: false,
    advancePending: job.workflowId !== null,
  };
  return evolve(job, patch, facts, now);
}

/** What every way out of a run has in common when the job goes on living: another start needs another limit slot. */
export const RUN_OVER = { leaseUntil: null, timeoutAt: null, holdsSlot: false } as const;
