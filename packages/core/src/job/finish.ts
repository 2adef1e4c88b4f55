import { type Fact, type Transition, told } from './evolve.ts';
import { keyHeldUntil } from './held-key.ts';
import type { Job } from './job.ts';

/** Ends a job: no lease, no slot, and no alarm unless it is a workflow's node or still holds its unique key. */
export function finish(
  job: Job,
  end: Pick<Job, 'state' | 'outcome'> & Partial<Pick<Job, 'result' | 'errors' | 'dead'>>,
  facts: readonly Fact[],
  now: number,
): Transition {
  // Named one by one: a second spread is several times as slow, and nearly every run ends here.
  const after = {
    ...job,
    state: end.state,
    outcome: end.outcome,
    result: end.result === undefined ? job.result : end.result,
    errors: end.errors ?? job.errors,
    dead: end.dead ?? job.dead,
    finishedAt: now,
    scheduledAt: null,
    leaseUntil: null,
    timeoutAt: null,
    holdsSlot: false,
    advancePending: job.workflowId !== null,
  };
  if (job.uniqueKey !== null && (keyHeldUntil(after) ?? now) > now) after.advancePending = true;
  return told(after, facts, now);
}

/** What every way out of a run has in common when the job goes on living: another start needs another limit slot. */
export const RUN_OVER = { leaseUntil: null, timeoutAt: null, holdsSlot: false } as const;
