import type { EventType, LogEvent } from '@waybill/core';

/** What a task is shown as. `waiting`: not all of its dependencies have completed. */
export const TASK_STATES = ['waiting', 'pending', 'processing', 'in_review', 'completed', 'failed'] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** What a job is shown as. A job is a workflow; `partial_failure`: a task has failed. */
export type JobStatus = 'processing' | 'completed' | 'partial_failure' | 'cancelled';

/** The events of tasks, with the state that each leaves its task in. */
export const TASK_EVENTS = {
  'Task Waiting': 'waiting',
  'Task Pending': 'pending',
  'Task Processing Started': 'processing',
  'Task Processing Failed': 'processing',
  'Task Heartbeat': 'processing',
  'Task Updated': 'processing',
  'Task Iteration Completed': 'processing',
  'Task Completed': 'completed',
  'Task Submitted For Review': 'in_review',
  'Task Revision Requested': 'pending',
  'Task Approved': 'completed',
  'Task Failed': 'failed',
  'Task Timeout': 'failed',
} as const satisfies Record<string, TaskState>;

/** The events of jobs, with the status that each leaves its job in. */
export const JOB_EVENTS = {
  'Job Created': 'processing',
  'Job Resumed': 'processing',
  'Job Completed': 'completed',
  'Job Failure Detected': 'partial_failure',
  'Job Cancelled': 'cancelled',
} as const satisfies Record<string, JobStatus>;

export type TaskEventType = keyof typeof TASK_EVENTS;
export type JobEventType = keyof typeof JOB_EVENTS;
export type BusEventType = TaskEventType | JobEventType;

export const isTaskEvent = (type: string): type is TaskEventType => Object.hasOwn(TASK_EVENTS, type);
export const isJobEvent = (type: string): type is JobEventType => Object.hasOwn(JOB_EVENTS, type);

/** Events that say only that a run goes on. There are many of them, so readers of states leave them out. */
export const PROGRESS_EVENTS: ReadonlySet<BusEventType> = new Set(['Task Heartbeat', 'Task Updated']);

/**
 * Which of the rows of a task tells it. `plain`: a task has this row alone. Of a task that is reviewed, each `iteration` has a
 * row of its own, and the `gate` is in review and is decided about.
 */
export type RowRole = 'plain' | 'iteration' | 'gate';

type OnBus = { readonly [T in EventType]?: BusEventType | undefined };

/** What an event of the log is on the bus. Events that are not named here stay in the log. */
const ON_BUS: OnBus = {
  'job.pending': 'Task Waiting',
  'job.scheduled': 'Task Waiting',
  'job.waiting': 'Task Waiting',
  'job.enqueued': 'Task Pending',
  'job.snoozed': 'Task Pending',
  'job.requeued': 'Task Pending',
  'job.started': 'Task Processing Started',
  'job.heartbeat': 'Task Heartbeat',
  'job.progress': 'Task Updated',
  'job.retrying': 'Task Processing Failed',
  'job.lease_expired': 'Task Processing Failed',
  'job.completed': 'Task Completed',
  'job.skipped': 'Task Completed',
  'job.in_review': 'Task Submitted For Review',
  'job.revision_requested': 'Task Revision Requested',
  'job.approved': 'Task Approved',
  'job.discarded': 'Task Failed',
  'job.expired': 'Task Failed',
  'job.cancelled': 'Task Failed',
  'workflow.started': 'Job Created',
  'workflow.resumed': 'Job Resumed',
  'workflow.completed': 'Job Completed',
  'workflow.failed': 'Job Failure Detected',
  'workflow.cancelled': 'Job Cancelled',
};

/**
 * Of a task that is reviewed: it has not completed when an iteration has, and that it was approved says more than that its
 * gate has completed.
 */
const OF_ROLE: Readonly<Record<RowRole, OnBus>> = {
  plain: {},
  iteration: { 'job.completed': 'Task Iteration Completed', 'job.skipped': 'Task Iteration Completed' },
  gate: { 'job.completed': undefined },
};

/** Types of the log that reach the bus. */
export const LOG_TYPES = Object.keys(ON_BUS) as EventType[];

/** Undefined: the event is not for the bus. */
export function busTypeOf(event: LogEvent, role: RowRole = 'plain'): BusEventType | undefined {
  // The gate is there before the first iteration has begun; later it waits again only where its job was resumed.
  if (role === 'gate' && event.type === 'job.pending' && event.sequence === 1) return undefined;
  const own = OF_ROLE[role];
  const type = Object.hasOwn(own, event.type) ? own[event.type] : ON_BUS[event.type];
  return type === 'Task Failed' && isTimeout(event) ? 'Task Timeout' : type;
}

/** The error of a run that took longer than it may, whoever ended it. */
function isTimeout({ type, data }: LogEvent): boolean {
  const { last_error: error } = data as { last_error?: { code?: unknown; type?: unknown } };
  return type === 'job.discarded' && error?.code === 'timeout' && error.type === 'timeout';
}
