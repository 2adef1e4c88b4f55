import { toRfc3339 } from '@waybill/client';
import {
  isObject,
  type Json,
  type JsonObject,
  lastError,
  type WorkflowInfo,
  type WorkflowNode,
  type WorkflowState,
} from '@waybill/core';
import { lastEventOf } from './task-events.ts';
import { type TaskRows, tasksIn } from './task-rows.ts';
import { statusOf, TASK_STATUSES, type TaskStatus } from './task-status.ts';
import { jobIdOf } from './task-words.ts';
import { inputOf, workOf, workToWire } from './task-work.ts';

export const JOB_STATUSES = ['processing', 'completed', 'partial_failure', 'cancelled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** What all outputs of an answer may have together, as JSON; later ones are read with their jobs. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** `hasFailures`: of its rows, while it runs. */
export function jobStatusOf(state: WorkflowState, hasFailures: boolean): JobStatus {
  if (state === 'completed' || state === 'cancelled') return state;
  return state === 'failed' || hasFailures ? 'partial_failure' : 'processing';
}

/** A job with its tasks, in the order in which they were added. */
export function jobToWire(info: WorkflowInfo, rows: readonly WorkflowNode[]): JsonObject {
  const tasks = tasksIn(rows);
  const statuses = tasks.map(statusOf);
  const progress = Object.fromEntries(
    TASK_STATUSES.map((status) => [status, statuses.filter((one) => one === status).length]),
  );
  let room = MAX_OUTPUT_BYTES;
  const shown = tasks.map((task, index) => {
    const wire = taskToWire(task, statuses[index]!);
    if (wire['output'] === undefined) return wire;
    room -= JSON.stringify(wire['output']).length;
    if (room >= 0) return wire;
    const { output: _, ...others } = wire;
    return { ...others, outputOmitted: true };
  });
  return {
    jobId: jobIdOf(info.id),
    ...(info.name !== null && { name: info.name }),
    status: jobStatusOf(info.state, info.partialFailure),
    ...{ totalTasks: tasks.length, progress, createdAt: toRfc3339(info.createdAt) },
    ...(info.finishedAt !== null && { completedAt: toRfc3339(info.finishedAt) }),
    tasks: shown,
  };
}

function taskToWire(task: TaskRows, status: TaskStatus): JsonObject {
  const { row, iteration, newest } = task;
  const input = inputOf(row.spec);
  const version = input['definitionVersion'];
  const feedback = newest.spec.rules?.revision?.feedback;
  const error = status === 'failed' ? (lastError(row) ?? lastError(newest)) : null;
  return {
    taskId: row.node!,
    name: typeof input['name'] === 'string' ? input['name'] : row.type,
    ...{ dependsOn: [...task.dependsOn], status, iteration, attempt: newest.attempt },
    ...workToWire(workOf(row)),
    ...(version !== undefined && { definitionVersion: version }),
    ...(feedback !== undefined && { reviewFeedback: feedback }),
    ...lastEventOf(task, status),
    ...timesOf(task),
    ...resultOf(task, status),
    ...(error && { error: { code: error.code, message: error.message } }),
    ojsJobId: newest.id,
  };
}

/** Agents say beside their output what it took; of any other task the result is the output. */
function resultOf({ row, newest }: TaskRows, status: TaskStatus): JsonObject {
  const { result } = row.state === 'completed' ? row : newest;
  if (result === null || (status !== 'completed' && status !== 'in_review')) return {};
  if (!isObject(result) || !('output' in result) || !isObject(result['usage'])) return { output: result };
  const { output, usage, durationMs, costUsd, repo, feedbackResult } = result as Record<string, Json>;
  const feedback =
    feedbackResult ?? (isObject(repo) ? { passed: repo['passed'] ?? null, rounds: repo['rounds'] ?? null } : null);
  return {
    ...{ output: output!, usage: usage! },
    ...(durationMs !== undefined && { durationMs }),
    ...(costUsd !== undefined && { costUsd }),
    ...(feedback !== null && { feedbackResult: feedback }),
  };
}

function timesOf({ row, newest, first }: TaskRows): JsonObject {
  const { startedAt } = first;
  const finishedAt = row.finishedAt;
  return {
    createdAt: toRfc3339(row.createdAt),
    ...(startedAt !== null && { startedAt: toRfc3339(startedAt) }),
    ...(finishedAt !== null && { finishedAt: toRfc3339(finishedAt) }),
    ...(newest.startedAt !== null &&
      newest.finishedAt !== null && { durationMs: newest.finishedAt - newest.startedAt }),
  };
}
