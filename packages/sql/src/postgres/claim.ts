import {
  type ClaimAnswer,
  type ClaimByIdRequest,
  type ClaimRequest,
  claimedOf,
  type Job,
  readEach,
} from '@waybill/core';
import { plainArray, textArray } from './arrays.ts';
import { type Base, isTooLarge } from './base.ts';
import { placeOf } from './columns.ts';
import { getRows } from './get.ts';
import { keyOf } from './keys.ts';
import { fromRow, isId, type Row } from './rows.ts';
import { type Answer, addStarted, isRepeated, type Placed, readAnswers } from './started.ts';

/** How many times fewer jobs are asked for when those that were asked for are too large together. */
const FEWER = 8;

export async function claim(base: Base, requests: readonly ClaimRequest[]): Promise<Job[][]> {
  if (requests.length === 1) return [await claimAlike(base, requests)];
  const answers: Job[][] = requests.map(() => []);
  for (const part of alike(requests)) {
    const jobs = await claimAlike(
      base,
      part.map((index) => requests[index]!),
    );
    const byClaim = Map.groupBy(jobs, (job) => job.claimId ?? '');
    for (const index of part) answers[index] = byClaim.get(requests[index]!.claimId) ?? [];
  }
  return answers;
}

/**
 * Requests that one statement can serve: neighbours that want the same, under different claim ids. A transaction does
 * not skip what it has locked itself, so they are dealt out from one pick.
 */
function alike(requests: readonly ClaimRequest[]): number[][] {
  const parts: number[][] = [];
  for (const [index, request] of requests.entries()) {
    const part = parts.at(-1);
    const first = part && requests[part[0]!]!;
    const fits = first && isAlike(first, request) && part.every((i) => requests[i]!.claimId !== request.claimId);
    if (fits) part.push(index);
    else parts.push([index]);
  }
  return parts;
}

const isAlike = (a: ClaimRequest, b: ClaimRequest): boolean =>
  a.tenant === b.tenant && a.now === b.now && a.queues.join('\n') === b.queues.join('\n');

async function claimAlike(base: Base, requests: readonly ClaimRequest[]): Promise<Job[]> {
  try {
    return await claimAs(base, requests, (queues) => ask(base, queues, requests));
  } catch (error) {
    const [only, ...others] = requests;
    if (!isTooLarge(error) || (others.length === 0 && only!.limit === 1)) throw error;
    if (others.length === 0) return claimFewer(base, only!);
    const jobs: Job[] = [];
    for (const request of requests) jobs.push(...(await claimAlike(base, [request])));
    return jobs;
  }
}

async function claimFewer(base: Base, request: ClaimRequest): Promise<Job[]> {
  const jobs = await claimAlike(base, [{ ...request, limit: Math.ceil(request.limit / FEWER) }]);
  // Whoever gets less than it wants takes its queues for used up, and these are not.
  base.link.wake(request.queues);
  return jobs;
}

/** Answers the jobs of all requests that want the same, in the order of queues and then of places. */
export async function claimAs(
  base: Base,
  requests: readonly ClaimRequest[],
  ask: (queues: readonly string[]) => Promise<string>,
): Promise<Job[]> {
  const { floors } = base;
  const { tenant } = requests[0]!;
  const queues = [...new Set(requests[0]!.queues)];
  const wanted = requests.reduce((sum, { limit }) => sum + limit, 0);
  const lowered = floors.lowered;
  const answers = readAnswers(await ask(queues)) ?? (await askAgain(base, queues, requests));
  const jobs = inOrder(queues, await placed(base, requests, answers));
  const isLimited = answers.includes(0);
  if (isLimited) noteLimits(base, tenant, queues, true);
  // What a claim got before says nothing of what is ready now.
  if (!answers.some(isRepeated)) {
    moveFloors(base, tenant, queues, jobs, jobs.length >= wanted, lowered);
    // Only who came up short has looked at all queues.
    if (!isLimited && jobs.length < wanted) noteLimits(base, tenant, queues, false);
  }
  return jobs;
}

/** Where each queue is to be read from; null: from its start. */
export const placesOf = ({ floors }: Base, tenant: string, queues: readonly string[]): (string | null)[] =>
  queues.map((queue) => floors.of(tenant, queue));

async function ask(base: Base, queues: readonly string[], requests: readonly ClaimRequest[]): Promise<string> {
  const { link, sql, bundleFrom } = base;
  const { tenant, claimId, workerId, limit, leaseMs, now } = requests[0]!;
  const places = placesOf(base, tenant, queues);
  // Nothing is known of the queue: it was empty, and what has come may well be a single job.
  const mayBeOne = requests.length === 1 && queues.length === 1 && places[0] === null && bundleFrom > 1;
  const [row] = mayBeOne
    ? await link.query<[string]>(sql['claim-one'], [
        tenant,
        queues[0],
        claimId,
        workerId,
        limit,
        leaseMs,
        bundleFrom,
        now,
      ])
    : await link.query<[string]>(sql.claim, [
        tenant,
        textArray(queues),
        plainArray(places),
        textArray(requests.map((request) => request.claimId)),
        textArray(requests.map((request) => request.workerId)),
        plainArray(requests.map((request) => request.limit)),
        plainArray(requests.map((request) => request.leaseMs)),
        bundleFrom,
        now,
      ]);
  return row![0];
}

/**
 * One of the rows that were claimed cannot be read. The same claims again name what they hold, which is then read row by
 * row; what cannot be read is leased to nobody until the sweep names it. It must not look like the end of a queue.
 */
async function askAgain(base: Base, queues: readonly string[], requests: readonly ClaimRequest[]): Promise<Answer[]> {
  base.link.wake(queues);
  return readAnswers(await ask(base, queues, requests)) ?? [];
}

async function placed(base: Base, requests: readonly ClaimRequest[], answers: readonly Answer[]): Promise<Placed[]> {
  const jobs: Placed[] = [];
  for (const answer of answers) {
    if (answer === 0) continue;
    const request = requests[answer[0] - 1]!;
    if (!isRepeated(answer)) addStarted(request, answer, jobs);
    else for (const job of await held(base, request, answer[1])) jobs.push({ job, place: placeOf(job) });
  }
  return jobs;
}

/** What a claim that was made before still holds. */
async function held(base: Base, { tenant, claimId }: ClaimRequest, ids: readonly string[]): Promise<Job[]> {
  const rows = await getRows(
    base,
    ids.map((id) => ({ tenant, id })),
  );
  const { read } = readEach(rows, fromRow, () => ({}));
  return read.filter((job) => job.state === 'active' && job.claimId === claimId);
}

function inOrder(queues: readonly string[], jobs: Placed[]): Job[] {
  const position = new Map(queues.map((queue, index) => [queue, index]));
  jobs.sort(
    (a, b) =>
      (position.get(a.job.queue) ?? 0) - (position.get(b.job.queue) ?? 0) || (isBefore(a.place, b.place) ? -1 : 1),
  );
  return jobs.map(({ job }) => job);
}

/** Places are numbers, those of the highest priority with fewer digits. */
const isBefore = (a: string, b: string): boolean => (a.length === b.length ? a < b : a.length < b.length);

/** A queue that gave its last job has nothing below it; one that came up short is read from its start next time. */
function moveFloors(
  { floors }: Base,
  tenant: string,
  queues: readonly string[],
  jobs: readonly Job[],
  isFull: boolean,
  lowered: number,
): void {
  const last = new Map(jobs.map((job) => [job.queue, job]));
  const lastQueue = jobs.at(-1)?.queue;
  for (const queue of queues) {
    const job = last.get(queue);
    if (isFull && job && queue === lastQueue) floors.raise(job, lowered);
    else if (job || !isFull) floors.drop(tenant, queue);
  }
}

/** Names of queues may be made up by the minute. */
const MOST_REMEMBERED = 1_000;

/** Which queues need not be asked when their limit lets somebody in: a limit that is set later wakes whoever waits. */
function noteLimits({ unlimited }: Base, tenant: string, queues: readonly string[], isLimited: boolean): void {
  if (unlimited.size > MOST_REMEMBERED) unlimited.clear();
  for (const queue of queues) {
    if (isLimited) unlimited.delete(keyOf(tenant, queue));
    else unlimited.add(keyOf(tenant, queue));
  }
}

type ByIdCells = [n: number, status: string | null, ...row: Row];

export async function claimById(base: Base, request: ClaimByIdRequest): Promise<ClaimAnswer[]> {
  const { tenant, claimId, workerId, leaseMs, now } = request;
  const answers: ClaimAnswer[] = request.ids.map(() => ({ status: 'unknown' }));
  const ids = [...new Set(request.ids.filter(isId))];
  if (ids.length === 0) return answers;
  const queues = request.queues ? (textArray(request.queues) ?? '{}') : null;
  const cells = [tenant, plainArray(ids), claimId, workerId, leaseMs, now, queues];
  const rows = await base.link.query<ByIdCells>(base.sql['claim-by-id'], cells);
  const found = new Map<string, ClaimAnswer>(
    rows.map(([n, status, ...row]) => [
      ids[n - 1]!,
      status === null ? claimedOf(() => fromRow(row)) : ({ status } as ClaimAnswer),
    ]),
  );
  return request.ids.map((id, index) => found.get(id) ?? answers[index]!);
}
