import { type Job, lastError } from './job.ts';

const LONGEST_REASON = 300;

/** What a log tells of a run that failed: which job, why, what comes next, and how to see more. */
export function failureLine(job: Job, reason = lastError(job)?.message ?? 'no reason was given'): string {
  const { id, type, attempt, maxAttempts, tenant } = job;
  const whose = tenant === '' ? '' : ` --tenant ${tenant}`;
  const why = sentence(reason);
  if (job.state !== 'discarded') {
    const next = `It will be ${job.state === 'available' ? 'run again at once' : `retried${inTime(job)}`}.`;
    return `Job ${id} ${type} failed on attempt ${attempt} of ${maxAttempts}: ${why} ${next} See: waybill jobs show ${id}${whose}`;
  }
  const after = `after ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}`;
  // A node that runs again by itself leaves its workflow failed.
  if (job.workflowId !== null && job.node !== null) {
    const what = job.dead ? 'became a dead letter' : 'was discarded';
    const repair = `Repair its workflow: waybill workflows resume ${job.workflowId}${whose}`;
    return `Job ${id} ${type} ${what} ${after}: ${why} ${repair}`;
  }
  return job.dead
    ? `Job ${id} ${type} became a dead letter ${after}: ${why} Run it again: waybill dead replay ${id}${whose}`
    : `Job ${id} ${type} was discarded ${after}: ${why} See: waybill jobs show ${id}${whose}`;
}

const inTime = ({ retryDelayMs }: Job): string =>
  retryDelayMs === null ? '' : ` in ${(retryDelayMs / 1_000).toFixed(1)} s`;

function sentence(text: string): string {
  const short = text.length <= LONGEST_REASON ? text : `${text.slice(0, LONGEST_REASON - 1)}…`;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}
