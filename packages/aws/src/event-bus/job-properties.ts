import type { Job, JsonObject, LoggedEvent, WorkflowNode } from '@waybill/core';
import type { JobEventType, TaskState } from './event-types.ts';
import type { Facts } from './facts.ts';

/** What an event of a job as a whole carries beside its id. */
export async function jobProperties(type: JobEventType, event: LoggedEvent, facts: Facts): Promise<JsonObject> {
  const { tenant, data } = event;
  const total = data['total_steps'];
  const told = typeof total === 'number' ? { totalTasks: total } : {};
  if (type === 'Job Resumed' || type === 'Job Cancelled') return told;
  const tasks = await facts.tasksOf(tenant, event.subject!);
  // Thousands of tasks are read by their own events.
  if (tasks === null) return told;
  const nodes = tasks.filter(({ node }) => node !== null);
  if (type === 'Job Created') return { ...told, tasks: nodes.map(asCreated) };
  const failed = nodes.find((node) => stateOf(node) === 'failed');
  const statuses = Object.fromEntries(nodes.map((node) => [node.node!, stateOf(node)]));
  return { ...told, taskStatuses: statuses, ...(type === 'Job Failure Detected' && failedTask(event, failed)) };
}

const failedTask = ({ data }: LoggedEvent, failed: Job | undefined): JsonObject => {
  const failedTaskId = data['failed_step_id'] ?? failed?.node;
  return typeof failedTaskId === 'string' ? { failedTaskId } : {};
};

const asCreated = ({ node, type, dependsOn, spec }: WorkflowNode): JsonObject => ({
  ...{ taskId: node!, name: type, dependsOn },
  input: spec.args.length === 1 ? spec.args[0]! : spec.args,
});

/** The words of the bus for the states of rows. */
function stateOf({ state }: Pick<Job, 'state'>): TaskState {
  switch (state) {
    case 'scheduled':
    case 'pending':
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
