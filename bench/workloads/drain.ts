import { fill } from '../filling.ts';
import { type Run, round, scaled, type Task, type Told, type Workload } from '../result.ts';
import { SYSTEMS, type SystemName } from '../systems/index.ts';
import { drained, mustBe, type Stall } from '../worked.ts';
import type { Size } from './enqueue.ts';

const JOBS = 100_000;

/** What a drain takes place in. */
export interface Circumstances extends Size {
  /** Puts rows beside before the jobs come, and tells what. */
  beside?(task: Task, system: SystemName): Promise<string>;
  /** Called when the jobs are in and no worker is there; what it answers is called when all is over. */
  around?(task: Task, jobs: number): Promise<() => Promise<Partial<Told>>>;
}

/** No-op jobs that are there already, one worker process. */
export const drain =
  (name: SystemName, { jobs: documented = JOBS, beside, around }: Circumstances = {}): Run =>
  async (task) => {
    const { open, settings, keepsFinished } = await SYSTEMS[name]();
    const jobs = scaled(documented, task.scale);
    const rows = await beside?.(task, name);
    await fill(task, name, { ready: jobs });
    const end = await around?.(task, jobs);
    const queue = await open(task);
    const before = await queue.counts();
    mustBe('jobs waiting', before.waiting, jobs);
    const stalls: Stall[] = [];
    const cpuBefore = process.cpuUsage();
    const seconds = await drained(queue, jobs, stalls);
    const { user, system } = process.cpuUsage(cpuBefore);
    const after = await queue.counts();
    mustBe('jobs left', after.waiting, 0);
    mustBe('jobs completed', after.completed - before.completed, keepsFinished ? jobs : 0);
    await queue.close();
    const more = await end?.();
    return {
      jobs,
      seconds,
      cpu_us_per_job: round((user + system) / jobs),
      ...(stalls.length > 0 && { stalls }),
      ...more,
      settings: [rows, settings].filter(Boolean).join('; '),
    };
  };

/** What traces and metrics of every job cost. */
export const drainTelemetry: Workload = {
  systems: {
    waybill: drain('waybill-telemetry'),
    'metrics-only': drain('waybill-metrics'),
    'all-traced': drain('waybill-all-traced'),
    'traced-by-sdk': drain('waybill-traced-by-sdk'),
    'without-telemetry': drain('waybill-untraced'),
  },
  yardstick: 'without-telemetry',
};
