import { evolve, type Transition } from './evolve.ts';
import { finish } from './finish.ts';
import { timeOutGate } from './gate.ts';
import { isToAdvance, type Job } from './job.ts';
import { isPast, lose, timeOut } from './settle.ts';

/** The engine looks at a row whose `nextAt` has come. Null: nothing is due, somebody was faster. */
export function tick(job: Job, now: number): Transition | null {
  switch (job.state) {
    case 'scheduled':
    case 'retryable':
      if (isPast(job.expiresAt, now)) return expire(job, now);
      return isPast(job.scheduledAt, now) ? promote(job, now) : null;
    case 'available':
      if (isPast(job.expiresAt, now)) return expire(job, now);
      // Nobody claimed it in time: the row stays as it is, and whoever wrote this hints at it again.
      return isPast(job.nextAt, now) ? evolve(job, {}, [], now) : null;
    case 'active':
      if (isPast(job.timeoutAt, now)) return timeOut(job, now);
      return isPast(job.leaseUntil, now) ? lose(job, now) : null;
    case 'pending':
      return isPast(job.timeoutAt, now) ? timeOutGate(job, now) : null;
    case 'completed':
    case 'cancelled':
    case 'discarded':
      return isToAdvance(job) ? null : letGo(job, now);
  }
}

/** What kept a finished row is over: the period of its unique key, then its own time in the set of dead letters. */
function letGo(job: Job, now: number): Transition | null {
  if (job.advancePending) return isPast(job.nextAt, now) ? evolve(job, { advancePending: false }, [], now) : null;
  // As if a person had taken it out of the set. By its alarm: the options may be in a blob.
  return job.dead && isPast(job.nextAt, now) ? evolve(job, { dead: false }, [], now) : null;
}

/** Its `seq` was set by the due time when it began to wait, so jobs leave in the order in which they were due. */
function promote(job: Job, now: number): Transition {
  return evolve(job, { state: 'available', enqueuedAt: now, scheduledAt: null }, [['job.enqueued']], now);
}

function expire(job: Job, now: number): Transition {
  const expiresAt = job.expiresAt ?? now;
  const told = {
    created_at: new Date(job.createdAt).toISOString(),
    expired_at: new Date(expiresAt).toISOString(),
    ttl_ms: expiresAt - job.createdAt,
  };
  return finish(job, { state: 'discarded', outcome: 'expired' }, [['job.expired', told]], now);
}
