import { wrongState } from '../commit/row-change.ts';
import { WaybillError } from '../errors.ts';
import { isFinished, type Job } from '../job/job.ts';
import type { LeaseToken } from '../job/lease.ts';

/** Why somebody may not speak for a run of this job. */
export function refusal(job: Job, token: LeaseToken | undefined, workerId: string | undefined): WaybillError {
  const fenced = token !== undefined || (workerId !== undefined && !isFinished(job.state));
  if (!fenced && job.state !== 'active') return wrongState(job, 'only an active job can be settled or reported on');
  if (!fenced) return wrongState(job, 'its execution timeout has passed');
  const message = `This run of job ${job.id} is over: it timed out, its lease ran out or was given to another worker.`;
  const hint = 'Drop the result of this run; the job has been or will be run again where that is due.';
  return new WaybillError('lease_lost', message, { details: { job_id: job.id, state: job.state }, hint });
}
