import type { Json, Lease } from '@waybill/core';
import { expect, vi } from 'vitest';
import type { Harness } from './harness.ts';

export const TASKS = '/tasks';

/** An agent task by itself. */
export const aTask = (taskId: string, more: object = {}) => ({
  ...{ taskId, name: `Do ${taskId}`, description: 'Work.', tag: 'worker', ...more },
});

/** Creates a job and answers its id. */
export async function madeJob({ post }: Harness, tasks: object[], more: object = {}): Promise<string> {
  const { status, body } = await post(`${TASKS}/jobs`, { tasks, ...more });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.jobId;
}

export async function shownJob({ get }: Harness, jobId: string) {
  const { status, body } = await get(`${TASKS}/jobs/${jobId}`);
  expect(status).toBe(200);
  return body;
}

/** The status of each task, and that of the job. */
export async function statusesOf(server: Harness, jobId: string): Promise<Record<string, string>> {
  const { status, tasks } = await shownJob(server, jobId);
  const each = tasks.map((task: { taskId: string; status: string }) => [task.taskId, task.status]);
  return { job: status, ...Object.fromEntries(each) };
}

/** The runs that can begin now, by the ids of their tasks. */
export async function runsOf({ waybill }: Harness, queue = 'agent-tasks'): Promise<Map<string, Lease>> {
  const leases = await waybill.jobs.claim({ queues: [queue], count: 100, leaseMs: 86_400_000 });
  return new Map(leases.map((lease) => [(lease.job.spec.args[0] as { taskId: string }).taskId, lease]));
}

/** The runs of exactly these tasks, once the engine has let them start. */
export async function runsOfTasks(server: Harness, ...taskIds: string[]): Promise<Lease[]> {
  const found = new Map<string, Lease>();
  await vi.waitFor(
    async () => {
      for (const [taskId, lease] of await runsOf(server)) found.set(taskId, lease);
      expect([...found.keys()].sort()).toEqual([...taskIds].sort());
    },
    { interval: 1 },
  );
  return taskIds.map((taskId) => found.get(taskId)!);
}

export async function runOf(server: Harness, taskId: string): Promise<Lease> {
  const [lease] = await runsOfTasks(server, taskId);
  return lease!;
}

/** Once what the engine does by itself is done. */
export const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { interval: 1 });

export async function complete({ waybill }: Harness, { job, token }: Lease, result: Json = 'done'): Promise<void> {
  await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result } });
}

export async function fail({ waybill }: Harness, { job, token }: Lease): Promise<void> {
  const outcome = { kind: 'discarded', error: { code: 'boom', message: 'It broke.' }, deadLetter: true } as const;
  await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome });
}
