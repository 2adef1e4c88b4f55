import type { JobState } from '@waybill/core';

/** An index that holds few rows, and what a row must be to stand in it. */
export interface Source {
  index: string;
  where: string;
  /** Every row in it is in this state, so nobody needs to look. */
  state?: JobState;
  /** Gives its rows in the order of ids. */
  sorted: boolean;
}

export const READY: Source = { index: 'jobs_ready', where: 'rank is not null', state: 'available', sorted: false };
export const PARKED: Source = {
  index: 'jobs_parked',
  where: `state = 'available' and rank is null and limit_key is not null`,
  state: 'available',
  sorted: false,
};
export const SCHEDULED: Source = {
  index: 'jobs_due',
  where: `next_at is not null and state = 'scheduled'`,
  state: 'scheduled',
  sorted: false,
};
export const RETRYABLE: Source = {
  index: 'jobs_due',
  where: `next_at is not null and state = 'retryable'`,
  state: 'retryable',
  sorted: false,
};
export const ACTIVE: Source = { index: 'jobs_active', where: `state = 'active'`, state: 'active', sorted: false };
export const PENDING: Source = { index: 'jobs_pending', where: `state = 'pending'`, state: 'pending', sorted: true };
const CANCELLED: Source = {
  index: 'jobs_unsuccessful',
  where: `state = 'cancelled' and dead = 0`,
  state: 'cancelled',
  sorted: true,
};
const DISCARDED: Source = {
  index: 'jobs_unsuccessful',
  where: `state = 'discarded' and dead = 0`,
  state: 'discarded',
  sorted: true,
};
export const DEAD: Source = { index: 'jobs_unsuccessful', where: `state = 'discarded' and dead = 1`, sorted: true };
export const WORKFLOW: Source = { index: 'jobs_workflow', where: 'workflow_id = ?6', sorted: true };

/** The primary key. Numbers 14 and 15 come behind all others, in a list as in a count. */
export const BY_ID: Source = { index: 'sqlite_autoindex_jobs_1', where: 'id between ?14 and ?15', sorted: true };

/** No row stands in two of these, so that answers can be put together. */
export const SOURCES: Readonly<Record<JobState, readonly Source[] | null>> = {
  scheduled: [SCHEDULED],
  available: [READY, PARKED],
  pending: [PENDING],
  active: [ACTIVE],
  completed: null,
  retryable: [RETRYABLE],
  cancelled: [CANCELLED],
  discarded: [DISCARDED, DEAD],
};
