import { keyHeldUntil } from './held-key.ts';
import { isToAdvance, type Job } from './job.ts';
import { LATEST_MOMENT } from './rank.ts';

/** The columns that decide when the engine must look at a row again. */
type Timed = Pick<
  Job,
  | 'state'
  | 'scheduledAt'
  | 'expiresAt'
  | 'leaseUntil'
  | 'timeoutAt'
  | 'advancePending'
  | 'createdAt'
  | 'finishedAt'
  | 'dead'
  | 'workflowId'
  | 'uniqueKey'
  | 'spec'
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
      return earliest(job.advancePending ? job.createdAt : null, job.timeoutAt);
    case 'completed':
    case 'cancelled':
    case 'discarded':
      // A node's dependents are looked at off the settling path; the sweep does it when the settler died first.
      if (isToAdvance(job)) return job.finishedAt;
      return job.advancePending ? (keyHeldUntil(job) ?? job.finishedAt) : forgetAt(job);
  }
}

/**
 * When a dead letter leaves its set, where its job says so itself; null: when the engine's retention says so. Until then
 * the alarm keeps the row from being pruned, so a job may also be kept for longer than the engine keeps others.
 */
export function forgetAt({ dead, finishedAt, spec }: Timed): number | null {
  if (!dead || finishedAt === null) return null;
  const ms = spec.options?.['dead_letter_retention_ms'];
  return typeof ms === 'number' ? Math.min(finishedAt + ms, LATEST_MOMENT) : null;
}

/**
 * A little before the lease of a worker (30 s) would end that claims the job at once. So the claim finds an alarm that
 * rings before the lease ends and may leave it where it is, which on DynamoDB saves a quarter of what a job costs; a later
 * alarm it would have to move, or a dead worker's job would come back late. The seconds in between are for clocks that
 * differ.
 */
export const FIRST_REMINDER_MS = 25_000;
const LONGEST_REMINDER_MS = 12 * 3_600_000;

/**
 * Over a transport of hints, a job that waits for a claim is hinted again after 25 seconds, then at pauses four times as
 * long each, at most twelve hours. A function of the time at which it became available, so it needs no column.
 */
export function withReminder(job: Job, now: number): Job {
  if (job.state !== 'available') return job;
  let pause = FIRST_REMINDER_MS;
  let moment = (job.enqueuedAt ?? job.createdAt) + pause;
  while (moment <= now) {
    pause = Math.min(pause * 4, LONGEST_REMINDER_MS);
    moment += pause;
  }
  return { ...job, nextAt: earliest(nextAtFor(job), moment) };
}
