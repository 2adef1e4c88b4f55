import type { Job, JobError, JobSpec, JsonObject, OutcomeKind } from '@waybill/core';
import type { WireJob, WireJobError } from './job-wire.ts';
import { present } from './present.ts';
import { rulesFromWire } from './rules-wire.ts';
import { metaFromWire } from './tenant-wire.ts';
import { fromRfc3339 } from './time.ts';

/** Every name that the API gives a meaning; what else stands at the top came from the producer. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['id', 'type', 'state', 'queue', 'args', 'meta', 'priority', 'attempt', 'max_attempts', 'run'],
  ...['created_at', 'enqueued_at', 'scheduled_at', 'started_at', 'completed_at', 'cancelled_at', 'discarded_at'],
  ...['expires_at', 'next_attempt_at', 'retry_delay_ms', 'timeout_ms', 'visibility_timeout_ms', 'retry', 'tags'],
  ...['options', 'error', 'errors', 'result', 'workflow_id', 'node', 'rules', 'outcome', 'dead_letter', 'worker_id'],
  ...['lease_expires_at', 'lease_ms', 'lease_token', 'parent_results', 'revision', 'last_checkpoint'],
  ...['args_url', 'result_url', 'specversion', 'next_retry_at'],
]);

/**
 * The inverse of jobToWire, as far as the wire carries a row. The tenant is the one that the call was about. What the wire does not carry is the engine's own business and
 * becomes its blank value: `seq` and `version` 0, `rank`, `nextAt`, `claimId`, `idempotencyKey`,
 * `uniqueKey` and `limitKey` null, `holdsSlot` and `advancePending` false.
 *
 * Carried in part: `workerId`, `leaseMs`, `leaseUntil` and `timeoutAt` only of an active job, `scheduledAt` only of a
 * scheduled or retryable one, `outcome` only where the state tells it (completed, skipped, cancelled, expired), and the `type`
 * of an error only where it is another than its code.
 */
export function jobFromWire(wire: WireJob, tenant = ''): Job {
  const startedAt = fromRfc3339(wire.started_at);
  const timeoutMs = wire.timeout_ms ?? null;
  const isActive = wire.state === 'active';
  return {
    ...NOT_CARRIED,
    tenant,
    id: wire.id,
    type: wire.type,
    queue: wire.queue,
    priority: wire.priority,
    state: wire.state,
    run: wire.run,
    attempt: wire.attempt,
    maxAttempts: wire.max_attempts,
    workerId: wire.worker_id ?? null,
    leaseMs: wire.lease_ms ?? null,
    leaseUntil: fromRfc3339(wire.lease_expires_at),
    outcome: outcomeOf(wire),
    timeoutMs,
    timeoutAt: isActive && startedAt !== null && timeoutMs !== null ? startedAt + timeoutMs : null,
    visibilityMs: wire.visibility_timeout_ms ?? null,
    createdAt: Date.parse(wire.created_at),
    enqueuedAt: fromRfc3339(wire.enqueued_at),
    scheduledAt: fromRfc3339(wire.scheduled_at ?? wire.next_attempt_at),
    startedAt,
    finishedAt: fromRfc3339(wire.cancelled_at ?? wire.discarded_at ?? wire.completed_at),
    expiresAt: fromRfc3339(wire.expires_at),
    retryDelayMs: wire.retry_delay_ms ?? null,
    errors: (wire.errors ?? []).map(errorFromWire),
    result: wire.result ?? null,
    dead: wire.dead_letter ?? false,
    workflowId: wire.workflow_id ?? null,
    node: wire.node ?? null,
    spec: specOf(wire, tenant),
  };
}

const NOT_CARRIED = {
  ...{ seq: 0, rank: null, nextAt: null, version: 0, claimId: null },
  ...{ idempotencyKey: null, uniqueKey: null, limitKey: null, holdsSlot: false, advancePending: false },
} as const;

function outcomeOf({ state, outcome, completed_at }: WireJob): OutcomeKind | null {
  if (outcome === 'skipped') return outcome;
  if (state === 'completed' || state === 'cancelled') return state;
  // Only a job that expired was discarded without having been worked on to an end.
  return state === 'discarded' && completed_at === undefined ? 'expired' : null;
}

function errorFromWire({ type, code, occurred_at, ...error }: WireJobError): JobError {
  return {
    code,
    message: error.message,
    ...(type !== code && { type }),
    ...present('retryable', error.retryable),
    ...present('details', error.details),
    attempt: error.attempt,
    run: error.run,
    occurredAt: Date.parse(occurred_at),
  };
}

function specOf(wire: WireJob, tenant: string): JobSpec {
  const extra = Object.entries(wire).filter(([name]) => !KNOWN.has(name));
  return {
    args: wire.args ?? [],
    meta: metaFromWire(wire.meta, tenant),
    ...present('tags', wire.tags),
    ...present('retry', wire.retry),
    ...present('options', wire.options),
    ...(wire.rules && { rules: rulesFromWire(wire.rules) }),
    ...(extra.length > 0 && { extra: Object.fromEntries(extra) as JsonObject }),
  };
}
