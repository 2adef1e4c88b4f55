import {
  type Job,
  type JobError,
  type JobSpec,
  type JobState,
  type Json,
  type OutcomeKind,
  unreadableJob,
} from '@waybill/core';

export type Cell = string | number | null;

/** What one change may write, in the order of the table and of the UPDATE statements. */
export type MutableCells = [
  type: string,
  queue: string,
  priority: number,
  seq: number,
  state: string,
  rank: string | null,
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
  enqueuedAt: number | null,
  scheduledAt: number | null,
  startedAt: number | null,
  finishedAt: number | null,
  expiresAt: number | null,
  retryDelayMs: number | null,
  dead: number,
  holdsSlot: number,
  advancePending: number,
  errors: string | null,
  result: string | null,
];

/** A row of the table `jobs`, column by column: what SQLite gives and what travels between the threads. */
export type Row = [
  tenant: string,
  id: string,
  ...changing: MutableCells,
  createdAt: number,
  idempotencyKey: string | null,
  uniqueKey: string | null,
  limitKey: string | null,
  workflowId: string | null,
  node: string | null,
  spec: string,
];

/** Where the cells stand that code outside of this file looks at. */
export const AT = {
  tenant: 0,
  id: 1,
  queue: 3,
  state: 6,
  rank: 7,
  nextAt: 8,
  version: 9,
  run: 10,
  attempt: 11,
  claimId: 13,
  workerId: 14,
  leaseMs: 15,
  leaseUntil: 16,
  outcome: 17,
  timeoutAt: 19,
  startedAt: 23,
  expiresAt: 25,
  holdsSlot: 28,
  idempotencyKey: 33,
  limitKey: 35,
  workflowId: 36,
  node: 37,
  spec: 38,
} as const;

export function mutableCells(job: Job): MutableCells {
  return [
    job.type,
    job.queue,
    job.priority,
    job.seq,
    job.state,
    job.rank,
    job.nextAt,
    job.version,
    job.run,
    job.attempt,
    job.maxAttempts,
    job.claimId,
    job.workerId,
    job.leaseMs,
    job.leaseUntil,
    job.outcome,
    job.timeoutMs,
    job.timeoutAt,
    job.visibilityMs,
    job.enqueuedAt,
    job.scheduledAt,
    job.startedAt,
    job.finishedAt,
    job.expiresAt,
    job.retryDelayMs,
    Number(job.dead),
    Number(job.holdsSlot),
    Number(job.advancePending),
    errorsCell(job),
    resultCell(job),
  ];
}

/** What an end changes besides the state, in the order of finish-by-lease. */
export function endCells(job: Job): Cell[] {
  return [
    job.nextAt,
    job.version,
    job.outcome,
    job.finishedAt,
    Number(job.dead),
    Number(job.advancePending),
    errorsCell(job),
    resultCell(job),
  ];
}

const errorsCell = ({ errors }: Job): string | null => (errors.length === 0 ? null : JSON.stringify(errors));
const resultCell = ({ result }: Job): string | null => (result === null ? null : JSON.stringify(result));

export function toRow(job: Job): Row {
  const { tenant, id, createdAt, idempotencyKey, uniqueKey, limitKey, workflowId, node } = job;
  const spec = JSON.stringify(job.spec);
  return [tenant, id, ...mutableCells(job), createdAt, idempotencyKey, uniqueKey, limitKey, workflowId, node, spec];
}

export function fromRow(row: Row): Job {
  try {
    return whole(row);
  } catch (cause) {
    throw unreadableJob(row[1], cause);
  }
}

function whole(row: Row): Job {
  const errors = row[30] === null ? [] : (JSON.parse(row[30]) as JobError[]);
  const result = row[31] === null ? null : (JSON.parse(row[31]) as Json);
  return decode(row, errors, result, JSON.parse(row[38]) as JobSpec);
}

/** The job without the parts kept as JSON: enough for a transition that does not look at them, and cheaper. */
export const headOf = (row: Row): Job => decode(row, [], null, { args: [], meta: {} });

/** For moves that one row must not keep others from: one that cannot be read goes by its head, until it is claimed. */
export function asFarAsReadable(row: Row): Job {
  try {
    return whole(row);
  } catch {
    return headOf(row);
  }
}

function decode(row: Row, errors: readonly JobError[], result: Json | null, spec: JobSpec): Job {
  return {
    tenant: row[0],
    id: row[1],
    type: row[2],
    queue: row[3],
    priority: row[4],
    seq: row[5],
    state: row[6] as JobState,
    rank: row[7],
    nextAt: row[8],
    version: row[9],
    run: row[10],
    attempt: row[11],
    maxAttempts: row[12],
    claimId: row[13],
    workerId: row[14],
    leaseMs: row[15],
    leaseUntil: row[16],
    outcome: row[17] as OutcomeKind | null,
    timeoutMs: row[18],
    timeoutAt: row[19],
    visibilityMs: row[20],
    createdAt: row[32],
    enqueuedAt: row[21],
    scheduledAt: row[22],
    startedAt: row[23],
    finishedAt: row[24],
    expiresAt: row[25],
    retryDelayMs: row[26],
    errors,
    result,
    dead: row[27] === 1,
    idempotencyKey: row[33],
    uniqueKey: row[34],
    limitKey: row[35],
    holdsSlot: row[28] === 1,
    workflowId: row[36],
    node: row[37],
    advancePending: row[29] === 1,
    spec,
  };
}
