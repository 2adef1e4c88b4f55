import type { JobEvent } from '../events/job-event.ts';
import type { Job } from './job.ts';

type Beating = Pick<Job, 'tenant' | 'id' | 'type' | 'queue' | 'run' | 'attempt' | 'workerId' | 'leaseUntil'>;

/**
 * What the log says of a heartbeat that made a lease longer; null where it did not. The row's version does not count
 * heartbeats, so each is a source of its own, named by the moment up to which the lease holds.
 */
export function heartbeatEvent(before: Beating, leaseUntil: number, now: number): JobEvent | null {
  if (before.leaseUntil === leaseUntil) return null;
  const { tenant, id: jobId, type: jobType, queue, run, attempt, workerId } = before;
  return {
    ...{ type: 'job.heartbeat', tenant, jobId, jobType, queue, run, attempt },
    ...{ source: `lease:${leaseUntil}`, sequence: 1, at: now },
    data: { worker_id: workerId, visible_until: new Date(leaseUntil).toISOString() },
  };
}
