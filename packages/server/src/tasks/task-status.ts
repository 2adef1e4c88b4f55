import type { JobState } from '@waybill/core';
import type { TaskRows } from './task-rows.ts';

export const TASK_STATUSES = [
  ...(['waiting', 'pending', 'processing', 'in_review', 'completed', 'failed', 'cancelled', 'skipped'] as const),
];
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** A failed attempt that is tried again is still the task's. */
const OF_STATE: Readonly<Record<JobState, TaskStatus>> = {
  ...{ pending: 'waiting', scheduled: 'pending', available: 'pending', active: 'processing', retryable: 'processing' },
  ...{ completed: 'completed', discarded: 'failed', cancelled: 'cancelled' },
};

/** Read from the rows of the task: nothing else is kept of it. */
export function statusOf({ row, newest, iteration }: TaskRows): TaskStatus {
  if (row.outcome === 'skipped') return 'skipped';
  if (row === newest || row.state === 'completed' || row.state === 'discarded') return OF_STATE[row.state];
  // The round has failed, and what waited for it was cancelled for that.
  if (newest.state === 'discarded') return 'failed';
  if (row.state === 'cancelled') return 'cancelled';
  if (row.startedAt !== null) return 'in_review';
  const status = OF_STATE[newest.state];
  // Between two rounds, or on its way to the review.
  return status === 'completed' || (status === 'waiting' && iteration > 1) ? 'pending' : status;
}
