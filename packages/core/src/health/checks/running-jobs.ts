import type { Finding, JobHealth, RunHealth, RunSummary } from '../checks-port.ts';
import type { HealthSettings } from '../health-options.ts';
import { type CheckAnswer, inWords } from './check.ts';
import { jobHealth, youngestLevel } from './job-health.ts';
import type { TenantView } from './tenant-view.ts';

const WORST_FIRST: readonly RunHealth[] = ['critical', 'overtime', 'warning', 'healthy'];
/** Jobs that a report and the event about it name. */
const MOST_TOLD = 50;

export interface RunningAnswer extends CheckAnswer {
  jobs: RunSummary;
  tasks: JobHealth[];
}

/** Runs that are silent for too long, or that go on for too long. */
export async function checkRunningJobs(view: TenantView, settings: HealthSettings): Promise<RunningAnswer> {
  const { now } = view;
  const [{ items, isCut }, queues] = await Promise.all([
    view.runningBefore(now - youngestLevel(settings)),
    view.queues(),
  ]);
  const looked = items.map((job) => jobHealth(job, settings, now)).sort(worstFirst);
  const counted = (health: RunHealth) => looked.filter((job) => job.health === health).length;
  const [warning, critical, overtime] = [counted('warning'), counted('critical'), counted('overtime')];
  const active = queues.items.reduce((sum, queue) => sum + queue.active, 0);
  const total = Math.max(active, looked.length);
  return {
    findings: looked.flatMap((job) => findingOf(job) ?? []),
    isCut,
    jobs: { total, healthy: total - warning - critical - overtime, warning, critical, overtime },
    tasks: looked.slice(0, MOST_TOLD),
  };
}

function worstFirst(one: JobHealth, other: JobHealth): number {
  const rank = (job: JobHealth) => WORST_FIRST.indexOf(job.health!);
  return rank(one) - rank(other) || other.elapsedMs! - one.elapsedMs!;
}

function findingOf(job: JobHealth): Omit<Finding, 'check'> | null {
  const { id, type, queue, health, elapsedMs, silentMs, lastEvent, workerId } = job;
  if (health === null || health === 'healthy') return null;
  const title =
    health === 'overtime'
      ? `Job ${id} (${type}) runs since ${inWords(elapsedMs!)}, which is too long.`
      : `Job ${id} (${type}) has given no sign of life for ${inWords(silentMs!)}.`;
  return {
    ...{ subject: `job:${id}`, severity: health === 'warning' ? 'warning' : 'critical', title, queue, jobId: id },
    facts: {
      ...{ health, job_type: type, elapsed_ms: elapsedMs!, silent_ms: silentMs!, last_event: lastEvent! },
      worker_id: workerId,
    },
  };
}
