import type { ClaimRequest, Job, JobError, JobSpec, Json } from '@waybill/core';

/** Jobs of one claim that have much in common, as 0005_start.sql writes them. */
export type Started = [
  /** Which of the claims, from 1. */
  claim: number,
  leaseMs: number,
  queue: string,
  type: string,
  version: number,
  run: number,
  attempt: number,
  maxAttempts: number,
  ids: string[],
  places: string[],
  createdAt: number[],
  enqueuedAt: (number | null)[],
  specs: JobSpec[],
  rest: Rest[],
];

/** One of the queues has a limit, whether or not it kept a job back. */
export type Limited = 0;

/** The claim id was used before, and these are the jobs that it got. */
export type Repeated = [claim: number, ids: string[]];

export type Answer = Started | Repeated | Limited;

export const isRepeated = (answer: Answer): answer is Repeated => answer !== 0 && answer.length === 2;

/** Null: one of the specs cannot be read, and nothing beside it. */
export function readAnswers(text: string): Answer[] | null {
  try {
    const answers = JSON.parse(text) as Answer[];
    // What is no value, or two of them, in the place of a spec.
    return answers.every((one) => one === 0 || isRepeated(one) || one[8].length === one[12].length) ? answers : null;
  } catch {
    return null;
  }
}

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

/** Adds the jobs as `transition(row, claim)` has them. */
export function addStarted(request: ClaimRequest, started: Started, to: Placed[]): void {
  const { tenant, claimId, workerId, now: startedAt } = request;
  const [, leaseMs, queue, type, version, run, attempt, maxAttempts, ids, places, created, enqueued, specs] = started;
  const rests = started[13].length === 0 ? null : new Map(started[13].map((rest) => [rest[0], rest]));
  const leaseUntil = startedAt + leaseMs;
  for (let index = 0; index < specs.length; index += 1) {
    const id = ids[index]!;
    const place = places[index]!;
    const rest = rests?.get(id) ?? NOTHING;
    const timeoutAt = rest[1] === null ? null : startedAt + rest[1];
    // In the order of rows.ts, so that all jobs are of one shape to V8.
    const job: Job = {
      tenant,
      id,
      type,
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
      createdAt: created[index]!,
      enqueuedAt: enqueued[index]!,
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
