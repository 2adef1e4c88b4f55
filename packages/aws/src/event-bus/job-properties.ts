import type { Job, JsonObject, LoggedEvent, WorkflowNode } from '@waybill/core';
import type { JobEventType, TaskState } from './event-types.ts';
import type { Facts } from './facts.ts';
import { iterationIn } from './reviewed-nodes.ts';

/** What an event of a job as a whole carries beside its id. */
export async function jobProperties(type: JobEventType, event: LoggedEvent, facts: Facts): Promise<JsonObject> {
  const { tenant, data } = event;
  const total = data['total_steps'];
  const told = typeof total === 'number' ? { totalTasks: total } : {};
  if (type === 'Job Resumed' || type === 'Job Cancelled') return told;
  const tasks = await facts.tasksOf(tenant, event.subject!);
  // Thousands of tasks are read by their own events.
  if (tasks === null) return told;
  const nodes = ownTasks(tasks);
  if (type === 'Job Created') return { ...told, tasks: nodes.map((node) => asCreated(node, tasks)) };
  const failed = nodes.find((node) => stateOf(node) === 'failed');
  const statuses = Object.fromEntries(nodes.map((node) => [node.node!, stateOf(node)]));
  return { ...told, taskStatuses: statuses, ...(type === 'Job Failure Detected' && failedTask(event, failed)) };
}

/** Callbacks have no name, and iterations are told of by their task. */
function ownTasks(tasks: readonly WorkflowNode[]): WorkflowNode[] {
  const reviewed = new Set(tasks.flatMap(({ node, spec }) => (spec.rules?.review ? node : [])));
  return tasks.filter(({ node }) => node !== null && !reviewed.has(iterationIn(node)?.node ?? ''));
}

const failedTask = ({ data }: LoggedEvent, failed: Job | undefined): JsonObject => {
  const failedTaskId = data['failed_step_id'] ?? failed?.node;
  return typeof failedTaskId === 'string' ? { failedTaskId } : {};
};

/** What a reviewed task waits for is what its first iteration waits for. */
const asCreated = ({ node, type, dependsOn, spec }: WorkflowNode, all: readonly WorkflowNode[]): JsonObject => ({
  ...{ taskId: node!, name: type },
  dependsOn: spec.rules?.review ? (all.find((one) => one.node === `${node}[1]`)?.dependsOn ?? []) : dependsOn,
  input: spec.args.length === 1 ? spec.args[0]! : spec.args,
});

/** The words of the bus for the states of rows. */
function stateOf({ state, startedAt, spec }: Pick<Job, 'state' | 'startedAt' | 'spec'>): TaskState {
  switch (state) {
    case 'pending':
      return spec.rules?.review && startedAt !== null ? 'in_review' : 'waiting';
    case 'scheduled':
      return 'waiting';
    case 'available':
      return 'pending';
    case 'active':
    case 'retryable':
      return 'processing';
    case 'completed':
      return 'completed';
    case 'cancelled':
    case 'discarded':
      return 'failed';
  }
}
