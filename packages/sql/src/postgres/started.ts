import type { Job, JobError, JobSpec, Json } from '@waybill/core';

/** A row of `started_jobs`: jobs of one claim that have much in common, see 0005_start.sql. */
export type StartedRow = [
  claimId: string,
  workerId: string,
  startedAt: number,
  leaseMs: number,
  queue: string,
  /** Null: the claim id was used before, and these are the jobs that it got. */
  type: string | null,
  version: number,
  run: number,
  attempt: number,
  maxAttempts: number,
  ids: string,
  places: string,
  createdAt: string,
  enqueuedAt: string,
  specs: string,
  rest: string | null,
];

/** What hardly any job has. */
type Rest = [
  id: string,
  timeoutMs: number | null,
  visibilityMs: number | null,
  scheduledAt: number | null,
  finishedAt: number | null,
  expiresAt: number | null,
  retryDelayMs: number | null,
  errors: JobError[] | null,
  result: Json | null,
  dead: boolean,
  idempotencyKey: string | null,
  uniqueKey: string | null,
  limitKey: string | null,
  holdsSlot: boolean,
  workflowId: string | null,
  node: string | null,
  advancePending: boolean,
];

/** A job and the number that it is ordered by, which JavaScript has no number for. */
export interface Placed {
  job: Job;
  place: string;
}

/** The ids of a claim that was made before; null where the jobs were started just now. */
export const repeatedIds = (row: StartedRow): string[] | null => (row[5] === null ? row[10].split(',') : null);

/** Adds the jobs of a row as `transition(row, claim)` has them. */
export function addStarted(tenant: string, row: StartedRow, to: Placed[]): void {
  const [claimId, workerId, startedAt, leaseMs, queue, type, version, run, attempt, maxAttempts] = row;
  const [ids, places, created, enqueued] = [row[10], row[11], row[12], row[13]].map((list) => list.split(','));
  const specs = JSON.parse(row[14]) as JobSpec[];
  const rests = row[15] === null ? null : restsOf(row[15]);
  const leaseUntil = startedAt + leaseMs;
  for (let index = 0; index < specs.length; index += 1) {
    const id = ids![index]!;
    const place = places![index]!;
    const enqueuedAt = enqueued![index]!;
    const rest = rests?.get(id) ?? NOTHING;
    const timeoutAt = rest[1] === null ? null : startedAt + rest[1];
    // In the order of rows.ts, so that all jobs are of one shape to V8.
    const job: Job = {
      tenant,
      id,
      type: type!,
      queue,
      priority: 100 - Number(place.slice(0, -SEQ_DIGITS)),
      seq: Number(place.slice(-SEQ_DIGITS)),
      state: 'active',
      rank: null,
      nextAt: timeoutAt === null ? leaseUntil : Math.min(leaseUntil, timeoutAt),
      version,
      run,
      attempt,
      maxAttempts,
      claimId,
      workerId,
      leaseMs,
      leaseUntil,
      outcome: null,
      timeoutMs: rest[1],
      timeoutAt,
      visibilityMs: rest[2],
      createdAt: Number(created![index]),
      enqueuedAt: enqueuedAt === '' ? null : Number(enqueuedAt),
      scheduledAt: rest[3],
      startedAt,
      finishedAt: rest[4],
      expiresAt: rest[5],
      retryDelayMs: rest[6],
      errors: rest[7] ?? [],
      result: rest[8],
      dead: rest[9],
      idempotencyKey: rest[10],
      uniqueKey: rest[11],
      limitKey: rest[12],
      holdsSlot: rest[13],
      workflowId: rest[14],
      node: rest[15],
      advancePending: rest[16],
      spec: specs[index]!,
    };
    to.push({ job, place });
  }
}

/** The last digits of a place, see rank.ts. */
const SEQ_DIGITS = 16;

const NO_VALUES = [null, null, null, null, null, null, null, null] as const;
const NOTHING: Rest = ['', ...NO_VALUES, false, null, null, null, false, null, null, false];

const restsOf = (text: string): Map<string, Rest> =>
  new Map((JSON.parse(text) as Rest[]).map((rest) => [rest[0], rest]));
