import type { Json, JsonObject } from '@waybill/core';
import { PARENT_NAMES } from '@waybill/core';
import type { TaskWork } from './task-work.ts';

/** A task as it is asked for, with its work. */
export interface AskedTask {
  taskId: string;
  name: string;
  /** As sent: what is wrong with it the engine says. */
  dependsOn: Json;
  input: Json;
  priority?: Json;
  work: TaskWork;
  /** Of the definition that says the work. */
  definitionVersion?: number;
}

/** A run that has taken too long would take as long again; what has failed for good is kept for a retry. */
const RETRY = { on_exhaustion: 'dead_letter', non_retryable_errors: ['timeout'], max_attempts: 3 };

/** The node of a workflow that does the task. The same task makes the same node, so that a call may be repeated. */
export function nodeOf({ taskId, name, dependsOn, input, priority, work, definitionVersion }: AskedTask): JsonObject {
  const { type, queue, timeoutMs, maxAttempts, requiresReview, told } = work;
  const told1 = {
    ...{ requestId: taskId, taskId, name, input },
    ...told,
    ...(requiresReview && { requiresReview }),
    ...(definitionVersion !== undefined && { definitionVersion }),
  };
  const parents = Array.isArray(dependsOn) ? [...new Set(dependsOn)] : [];
  return {
    id: taskId,
    depends_on: dependsOn,
    ...{ type, args: [told1] },
    ...(parents.length > 0 && { meta: { [PARENT_NAMES]: parents } }),
    options: {
      queue,
      ...(priority !== undefined && { priority }),
      ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
      retry: { ...RETRY, ...(maxAttempts !== undefined && { max_attempts: maxAttempts }) },
    },
    ...(requiresReview && { review: true }),
  };
}
