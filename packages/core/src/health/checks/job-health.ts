import type { Job } from '../../job/job.ts';
import type { JobHealth, RunHealth } from '../checks-port.ts';
import type { HealthSettings, JobLevels } from '../health-options.ts';

/**
 * What holds for one job. A lease that is longer than the levels for all jobs lets its worker be silent for longer: a
 * warning after half of it, and stuck at its end. So does a timeout of the job's own. What is set for the type of the job
 * holds as it is.
 */
export function levelsFor(job: Pick<Job, 'type' | 'leaseMs' | 'timeoutMs'>, settings: HealthSettings): JobLevels {
  const { jobs, tasks } = settings;
  const own = tasks.get(job.type) ?? {};
  const leaseMs = job.leaseMs ?? 0;
  return {
    warningMs: own.warningMs ?? Math.max(jobs.warningMs, leaseMs / 2),
    criticalMs: own.criticalMs ?? Math.max(jobs.criticalMs, leaseMs, own.warningMs ?? 0),
    overtimeMs: own.overtimeMs ?? Math.max(jobs.overtimeMs, job.timeoutMs ?? 0),
  };
}

/** No running job that is younger can be anything but healthy. */
export function youngestLevel({ jobs, tasks }: HealthSettings): number {
  const all = [jobs, ...tasks.values()].flatMap(({ warningMs, criticalMs, overtimeMs }) => [
    ...[warningMs, criticalMs, overtimeMs].filter((ms) => ms !== undefined),
  ]);
  return Math.min(...all);
}

/** From the row alone: a retried job is one row, and one that waits for a review does not run. */
export function jobHealth(job: Job, settings: HealthSettings, now: number): JobHealth {
  const { id, type, queue, state, run, workerId } = job;
  const named = { id, type, queue, state, run, workerId };
  if (state !== 'active') return { ...named, health: null, elapsedMs: null, silentMs: null, lastEvent: null };
  const startedAt = job.startedAt ?? job.createdAt;
  const seenAt = lastSignOf(job, startedAt, now);
  const [elapsedMs, silentMs] = [Math.max(0, now - startedAt), Math.max(0, now - seenAt)];
  return {
    ...named,
    health: classOf(elapsedMs, silentMs, levelsFor(job, settings)),
    ...{ elapsedMs, silentMs, lastEvent: seenAt > startedAt ? 'job.heartbeat' : 'job.started' },
  };
}

function classOf(elapsedMs: number, silentMs: number, levels: JobLevels): RunHealth {
  if (elapsedMs > levels.overtimeMs) return 'overtime';
  if (silentMs > levels.criticalMs) return 'critical';
  return silentMs > levels.warningMs ? 'warning' : 'healthy';
}

/** A heartbeat sets the lease anew, so its end tells when the last one came, unless it was cut short by the timeout. */
function lastSignOf({ leaseUntil, leaseMs, timeoutAt }: Job, startedAt: number, now: number): number {
  if (leaseUntil === null || leaseMs === null) return startedAt;
  const isCut = timeoutAt !== null && leaseUntil === timeoutAt && leaseUntil > now;
  return isCut ? now : Math.min(now, Math.max(startedAt, leaseUntil - leaseMs));
}
