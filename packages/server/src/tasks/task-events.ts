import { toRfc3339 } from '@waybill/client';
import { isJobEvent, isObject, type JobEventType, type JsonObject, type LoggedEvent, lastError } from '@waybill/core';
import type { TaskRows } from './task-rows.ts';
import type { TaskStatus } from './task-status.ts';

/** What the events of a job are called where it is a task, as on the event bus. All others are steps of the engine. */
const NAMES: Partial<Record<JobEventType, string>> = {
  'job.pending': 'Task Waiting',
  'job.scheduled': 'Task Waiting',
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
};

/** Of the log; what is not told of tasks is not asked for. */
export const TOLD_TYPES = Object.keys(NAMES) as JobEventType[];

const OF_REVIEW: readonly JobEventType[] = [
  ...([
    'job.in_review',
    'job.revision_requested',
    'job.approved',
    'job.discarded',
    'job.skipped',
    'job.cancelled',
  ] as const),
];
const TIMED_OUT = 'Task Timeout';

/** An event of the log as one of the task; undefined where it is told by another one. */
export function taskEventToWire(
  event: LoggedEvent,
  { row, rounds, first }: TaskRows,
  jobId: string,
): JsonObject | undefined {
  const name = isJobEvent(event) ? NAMES[event.type] : undefined;
  if (!isJobEvent(event) || name === undefined) return undefined;
  const { type, at, data, source, run, attempt } = event;
  const isReviewed = row !== first;
  // The row of the task tells its review, and its rounds all else; one that completes is submitted for its review.
  if (isReviewed && (type === 'job.completed' || (event.jobId === row.id && !OF_REVIEW.includes(type))))
    return undefined;
  const round = rounds.findIndex(({ id }) => id === event.jobId);
  const { worker_id: workerId, ...others } = data;
  return {
    eventType: type === 'job.discarded' && isTimeout(data) ? TIMED_OUT : name,
    timestamp: at,
    properties: {
      ...others,
      ...{ requestId: row.node!, jobId, run, attemptNumber: attempt },
      ...(isReviewed && round >= 0 && { iteration: round + 1 }),
      ...(type === 'job.completed' && { hasOutput: row.result !== null }),
      ...(type === 'job.enqueued' && { hasDependencyOutputs: first.dependsOn.length > 0 }),
    },
    context: { source: 'system', origin: source, ...(workerId !== undefined && { workerId }) },
  };
}

const isTimeout = ({ last_error: error }: JsonObject): boolean => isObject(error) && error['code'] === 'timeout';

/** What happened last, read from the rows. */
export function lastEventOf({ row, newest }: TaskRows, status: TaskStatus): JsonObject {
  const said = (type: JobEventType, at: number | null, name = NAMES[type]!): JsonObject =>
    at === null ? {} : { lastEventType: name, lastEventAt: toRfc3339(at) };
  switch (status) {
    case 'waiting':
      return said('job.pending', row.createdAt);
    case 'pending':
      return said('job.enqueued', newest.enqueuedAt ?? newest.createdAt);
    case 'processing':
      return newest.state === 'active'
        ? said('job.started', newest.startedAt)
        : said('job.retrying', lastError(newest)?.occurredAt ?? newest.startedAt);
    case 'in_review':
      return said('job.in_review', row.startedAt);
    case 'completed':
      return said(row === newest ? 'job.completed' : 'job.approved', row.finishedAt);
    case 'failed': {
      const end = row.state === 'discarded' ? row : newest;
      return end.outcome === 'timed_out'
        ? said('job.discarded', end.finishedAt, TIMED_OUT)
        : said('job.discarded', end.finishedAt);
    }
    case 'cancelled':
      return said('job.cancelled', row.finishedAt);
    case 'skipped':
      return said('job.skipped', row.finishedAt);
  }
}

export const jobIdsOf = ({ row, rounds }: TaskRows): string[] => [...new Set([row.id, ...rounds.map(({ id }) => id)])];
