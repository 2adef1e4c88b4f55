import {
  type Jobs,
  WaybillError,
  type WorkflowInfo,
  type WorkflowNode,
  type WorkflowRecord,
  type Workflows,
} from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import { isTask, type TaskRows, tasksIn } from './task-rows.ts';
import { workflowIdOf } from './task-words.ts';

/** Rows read at once. */
const SLICE = 500;

/** The workflow that the path of a request names. */
export function workflowIdIn(c: Ctx): string {
  const jobId = c.req.param('jobId') ?? '';
  const id = workflowIdOf(jobId);
  if (id !== null) return id;
  throw jobNotFound(jobId);
}

export function taskIdIn(c: Ctx): string {
  const taskId = c.req.param('taskId') ?? '';
  // Such a name is of a row that the engine has made by itself.
  if (taskId !== '' && isTask({ node: taskId })) return taskId;
  throw taskNotFound(taskId);
}

/** In the order in which they were added. */
export async function rowsOf(workflows: Workflows, id: string): Promise<WorkflowNode[]> {
  const rows: WorkflowNode[] = [];
  let cursor: string | undefined;
  do {
    const page = await workflows.nodes(id, { limit: SLICE, ...(cursor !== undefined && { cursor }) });
    rows.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  // They come newest first.
  return rows.reverse();
}

export async function taskOf(workflows: Workflows, id: string, taskId: string): Promise<TaskRows> {
  const task = tasksIn(await rowsOf(workflows, id)).find(({ row }) => row.node === taskId);
  if (task === undefined) throw taskNotFound(taskId);
  return task;
}

/** How many tasks the job has, and whether some of them failed; without what they were given and came to. */
export async function countTasks(jobs: Jobs, { id: workflowId }: Pick<WorkflowRecord | WorkflowInfo, 'id'>) {
  let [total, hasFailures] = [0, false];
  let cursor: string | undefined;
  do {
    const page = await jobs.list({
      filter: { workflowId },
      limit: SLICE,
      overBytes: 0,
      ...(cursor !== undefined && { cursor }),
    });
    for (const row of page.items) {
      if (isTask(row)) total += 1;
      if (row.state === 'discarded' || row.state === 'cancelled') hasFailures = true;
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { total, hasFailures };
}

const jobNotFound = (jobId: string): WaybillError =>
  new WaybillError('not_found', `There is no job '${jobId.slice(0, 100)}'.`, {
    details: { jobId: jobId.slice(0, 100) },
  });

const taskNotFound = (taskId: string): WaybillError =>
  new WaybillError('not_found', `The job has no task '${taskId.slice(0, 128)}'.`, {
    details: { taskId: taskId.slice(0, 128) },
  });
