import { type Fact, told } from '../job/evolve.ts';
import { newJobId } from '../job/id.ts';
import type { Job } from '../job/job.ts';
import { seqAt } from '../job/rank.ts';
import { DEFAULT_RETRY } from '../job/retry-policy.ts';
import type { NewJob } from '../store/insert.ts';
import type { CheckedRequest } from './envelope.ts';

export interface Birth {
  tenant: string;
  now: number;
  /** Place in the queue among jobs of the same priority. */
  seq: number;
  idempotencyKey: string | null;
  /** Where the job belongs, when it is a node of a workflow. */
  workflow?: { id: string; node: string };
}

/** The first row of a job and the events that tell of it. */
export function newJob(request: CheckedRequest, { tenant, now, seq, idempotencyKey, workflow }: Birth): NewJob {
  const { type, queue, priority, timeoutMs, visibilityMs, expiresAt, spec } = request;
  const waits = request.scheduledAt !== null && request.scheduledAt > now;
  const scheduledAt = waits ? request.scheduledAt : null;
  const state = request.pending ? 'pending' : waits ? 'scheduled' : 'available';
  // Field by field: copied together from parts, a row would cost several times as much.
  const row = {
    tenant,
    id: request.id ?? newJobId(now),
    type,
    queue,
    priority,
    seq: scheduledAt === null ? seq : seqAt(scheduledAt, seq),
    state,
    rank: null,
    nextAt: null,
    version: 0,
    run: 0,
    attempt: 0,
    maxAttempts: request.maxAttempts ?? DEFAULT_RETRY.max_attempts,
    claimId: null,
    workerId: null,
    leaseMs: null,
    leaseUntil: null,
    outcome: null,
    timeoutMs,
    timeoutAt: null,
    visibilityMs,
    createdAt: now,
    enqueuedAt: state === 'available' ? now : null,
    scheduledAt,
    startedAt: null,
    finishedAt: null,
    expiresAt,
    retryDelayMs: null,
    errors: [],
    result: null,
    dead: false,
    idempotencyKey,
    uniqueKey: request.unique?.key ?? null,
    limitKey: request.limit?.key ?? null,
    holdsSlot: false,
    workflowId: workflow?.id ?? null,
    node: workflow?.node ?? null,
    advancePending: false,
    spec,
  } satisfies Job;
  const born = told(row, [birthFact(row)], now);
  return request.limit?.rule ? { ...born, limit: request.limit.rule } : born;
}

function birthFact({ state, scheduledAt }: Job): Fact {
  if (state === 'pending') return ['job.pending'];
  if (scheduledAt === null) return ['job.enqueued'];
  return ['job.scheduled', { scheduled_at: new Date(scheduledAt).toISOString() }];
}
