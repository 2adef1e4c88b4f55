import { wrongState } from '../commit/row-change.ts';
import { invalidField, WaybillError } from '../errors.ts';
import { isFinished, type Job } from '../job/job.ts';
import type { LeaseToken } from '../job/lease.ts';

/** A token that names another queue than the job's was not made for this job, whatever else it says. */
export function checkQueueOf(job: Job, queue: string | undefined): void {
  if (queue !== undefined && queue !== job.queue)
    throw invalidField('lease_token', `names the queue '${queue.slice(0, 100)}', and job ${job.id} is of another one.`);
}

/** Why the fence of a call does not admit it to a run of this job. */
export function refusal(job: Job, token: LeaseToken | undefined, workerId: string | undefined): WaybillError {
  const fenced = token !== undefined || (workerId !== undefined && !isFinished(job.state));
  if (!fenced && job.state !== 'active') return wrongState(job, 'only an active job can be settled or reported on');
  if (!fenced) return wrongState(job, 'its execution timeout has passed');
  const message = `This run of job ${job.id} is over: it timed out, its lease ran out or was given to another worker.`;
  const hint = 'Drop the result of this run; the job has been or will be run again where that is due.';
  return new WaybillError('lease_lost', message, { details: { job_id: job.id, state: job.state }, hint });
}
