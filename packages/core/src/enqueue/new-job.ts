import { evolve, type Fact } from '../job/evolve.ts';
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
  const row: Job = {
    ...BLANK,
    ...{ tenant, type, queue, priority, timeoutMs, visibilityMs, expiresAt, spec, idempotencyKey, state, scheduledAt },
    id: request.id ?? newJobId(now),
    seq: scheduledAt === null ? seq : seqAt(scheduledAt, seq),
    maxAttempts: request.maxAttempts ?? DEFAULT_RETRY.max_attempts,
    createdAt: now,
    uniqueKey: request.unique?.key ?? null,
    limitKey: request.limit?.key ?? null,
    workflowId: workflow?.id ?? null,
    node: workflow?.node ?? null,
    enqueuedAt: state === 'available' ? now : null,
  };
  const born = evolve(row, {}, [birthFact(row)], now);
  return request.limit?.rule ? { ...born, limit: request.limit.rule } : born;
}

function birthFact({ state, scheduledAt }: Job): Fact {
  if (state === 'pending') return ['job.pending'];
  if (scheduledAt === null) return ['job.enqueued'];
  return ['job.scheduled', { scheduled_at: new Date(scheduledAt).toISOString() }];
}

/** Everything that a new job has not got yet. */
const BLANK = {
  rank: null,
  nextAt: null,
  version: 0,
  run: 0,
  attempt: 0,
  claimId: null,
  workerId: null,
  leaseMs: null,
  leaseUntil: null,
  outcome: null,
  timeoutAt: null,
  startedAt: null,
  finishedAt: null,
  retryDelayMs: null,
  errors: [],
  result: null,
  dead: false,
  holdsSlot: false,
  advancePending: false,
} as const;
