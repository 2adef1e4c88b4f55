import {
  JOB_STATES,
  type Job,
  type JobError,
  type JobSpec,
  type JobState,
  type Json,
  lastError,
  type OutcomeKind,
  rankFor,
  unreadableJob,
} from '@waybill/core';

/** States as the tables have them: from 1, in the order of `JOB_STATES`. */
export const stateCode = (state: JobState): number => JOB_STATES.indexOf(state) + 1;

/** A row of the views `live_jobs` and `ended_jobs`, column by column; they have more that only SQL looks at. */
export type Row = [
  tenant: string,
  id: string,
  type: string,
  queue: string,
  priority: number,
  seq: number,
  state: number,
  nextAt: number | null,
  version: number,
  run: number,
  attempt: number,
  maxAttempts: number,
  claimId: string | null,
  workerId: string | null,
  leaseMs: number | null,
  leaseUntil: number | null,
  outcome: string | null,
  timeoutMs: number | null,
  timeoutAt: number | null,
  visibilityMs: number | null,
  createdAt: number,
  enqueuedAt: number | null,
  scheduledAt: number | null,
  startedAt: number | null,
  finishedAt: number | null,
  expiresAt: number | null,
  retryDelayMs: number | null,
  errors: string | null,
  result: string | null,
  dead: boolean,
  idempotencyKey: string | null,
  uniqueKey: string | null,
  limitKey: string | null,
  holdsSlot: boolean,
  workflowId: string | null,
  node: string | null,
  advancePending: boolean,
  spec: string,
];

/** The columns of a row, for queries that need no others. */
export const COLUMNS = `tenant, id, type, queue, priority, seq, state, next_at, version, run, attempt, max_attempts,
  claim_id, worker_id, lease_ms, lease_until, outcome, timeout_ms, timeout_at, visibility_ms, created_at, enqueued_at,
  scheduled_at, started_at, finished_at, expires_at, retry_delay_ms, errors, result, dead, idempotency_key, unique_key,
  limit_key, holds_slot, workflow_id, node, advance_pending, spec`;

export function fromRow(row: Row): Job {
  try {
    return whole(row);
  } catch (cause) {
    throw unreadableJob(row[1], cause);
  }
}

/** For moves that one row must not keep others from: one that cannot be read goes by its head, until it is claimed. */
export function asFarAsReadable(row: Row): Job {
  try {
    return whole(row);
  } catch {
    return headOf(row);
  }
}

/** The job without the parts kept as JSON. */
const headOf = (row: Row): Job => whole(row.with(27, null).with(28, null).with(37, '{"args":[],"meta":{}}') as Row);

function whole(row: Row): Job {
  const job = {
    tenant: row[0],
    id: row[1],
    type: row[2],
    queue: row[3],
    priority: row[4],
    seq: row[5],
    state: JOB_STATES[row[6] - 1]!,
    rank: null as string | null,
    nextAt: row[7],
    version: row[8],
    run: row[9],
    attempt: row[10],
    maxAttempts: row[11],
    claimId: row[12],
    workerId: row[13],
    leaseMs: row[14],
    leaseUntil: row[15],
    outcome: row[16] as OutcomeKind | null,
    timeoutMs: row[17],
    timeoutAt: row[18],
    visibilityMs: row[19],
    createdAt: row[20],
    enqueuedAt: row[21],
    scheduledAt: row[22],
    startedAt: row[23],
    finishedAt: row[24],
    expiresAt: row[25],
    retryDelayMs: row[26],
    errors: row[27] === null ? [] : (JSON.parse(row[27]) as JobError[]),
    result: row[28] === null ? null : (JSON.parse(row[28]) as Json),
    dead: row[29],
    idempotencyKey: row[30],
    uniqueKey: row[31],
    limitKey: row[32],
    holdsSlot: row[33],
    workflowId: row[34],
    node: row[35],
    advancePending: row[36],
    spec: JSON.parse(row[37]) as JobSpec,
  };
  // Derived from the others, and too large for a number.
  job.rank = rankFor(job);
  return job;
}

export const errorsCell = (job: Job): string | null => (job.errors.length === 0 ? null : JSON.stringify(job.errors));

export const resultCell = (job: Job): string | null => (job.result === null ? null : JSON.stringify(job.result));

export const errorTypeCell = (job: Job): string | null => searchable(lastError(job)?.type);

export const errorCodeCell = (job: Job): string | null => searchable(lastError(job)?.code);

/** Text that a column takes: PostgreSQL refuses U+0000 and lone surrogates. */
export function searchable(text: string | undefined): string | null {
  return text === undefined ? null : text.toWellFormed().replaceAll('\u0000', '\ufffd');
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Nothing else can be the id of a row, and PostgreSQL would refuse the whole call. */
export const isId = (text: string): boolean => UUID.test(text);
