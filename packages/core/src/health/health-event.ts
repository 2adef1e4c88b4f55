import type { Told } from '../events/subject-event.ts';
import type { HealthReport, JobHealth } from './checks-port.ts';

/** The summary of a round, for a tenant with running jobs. One per round and tenant, whatever was found. */
export const healthChecked = ({ tenant, at, status, jobs, tasks, cut }: HealthReport): Told => ({
  ...{ type: 'health.checked', tenant, subject: 'running-jobs', at },
  data: {
    ...{ status, cut: cut.includes('running-jobs') || tasks.length < jobs.warning + jobs.critical + jobs.overtime },
    summary: {
      ...{ total_processing: jobs.total, healthy: jobs.healthy, warning: jobs.warning },
      ...{ critical: jobs.critical, overtime: jobs.overtime },
    },
    tasks: tasks.map(told),
  },
});

const told = ({ id, type, queue, health, run, elapsedMs, silentMs, lastEvent, workerId }: JobHealth) => ({
  ...{ job_id: id, job_type: type, queue, run, health },
  ...{ elapsed_ms: elapsedMs, silent_ms: silentMs, last_event: lastEvent, worker_id: workerId },
});
