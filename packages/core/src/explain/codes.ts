/**
 * Every reason. The text stands in for a reason that tells of a tenant as a whole, where the caller is narrowed to queues or
 * types: it may know that the job waits for it, and nothing of what others do. Null: the reason is about the job itself.
 */
export const REASONS = {
  // How it ended.
  completed: null,
  skipped: null,
  cancelled: null,
  replaced: null,
  discarded: null,
  expired: null,
  // It runs.
  running: null,
  lease_expired: null,
  // It waits for a moment, or for somebody.
  scheduled: null,
  retry_backoff: null,
  snoozed: null,
  question: null,
  budget: 'It was put off until the period of a budget ends.',
  unknown_type: null,
  overdue: null,
  // Something is damaged.
  unreadable: null,
  payload_missing: null,
  upkeep_failing: null,
  // Its queue and its limits.
  queue_paused: null,
  queue_limit: null,
  limit: 'It waits for a slot of its limit.',
  tenant_limit: 'Its tenant runs as many jobs as it may.',
  // Its workflow.
  pending: null,
  workflow_ended: null,
  parents: null,
  condition: null,
  map: null,
  signal: null,
  review: null,
  undecided: null,
  // Who could run it.
  no_worker: 'No worker is there to run it.',
  workers_stopped: 'All workers were told to take no further jobs.',
  no_worker_for_queue: 'No worker is known to work on its queue.',
  turn: 'It is ready, and waits for its turn.',
  unchecked: 'A part of what may keep it could not be looked at.',
} as const satisfies Record<string, string | null>;

export type ReasonCode = keyof typeof REASONS;

export const REASON_CODES = Object.keys(REASONS) as readonly ReasonCode[];
