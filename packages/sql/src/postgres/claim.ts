import type { ClaimAnswer, ClaimByIdRequest, ClaimRequest, Job } from '@waybill/core';
import { plainArray, textArray } from './arrays.ts';
import type { Base } from './base.ts';
import { placeOf } from './columns.ts';
import { fromRow, isId, type Row } from './rows.ts';

export async function claim(base: Base, requests: readonly ClaimRequest[]): Promise<Job[][]> {
  const answers: Job[][] = requests.map(() => []);
  for (const part of alike(requests)) {
    const jobs = await claimAlike(
      base,
      part.map((index) => requests[index]!),
    );
    for (const index of part) answers[index] = jobs.get(requests[index]!.claimId) ?? [];
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

/** Answers jobs by claim id, each list in the order of queues and then of places. */
async function claimAlike(base: Base, requests: readonly ClaimRequest[]): Promise<Map<string, Job[]>> {
  const { floors, link, sql } = base;
  const { tenant, now } = requests[0]!;
  const queues = [...new Set(requests[0]!.queues)];
  const wanted = requests.reduce((sum, { limit }) => sum + limit, 0);
  const lowered = floors.lowered;
  const rows = await link.query<Row>(sql.claim, [
    tenant,
    textArray(queues),
    plainArray(queues.map((queue) => floors.of(tenant, queue))),
    textArray(requests.map(({ claimId }) => claimId)),
    textArray(requests.map(({ workerId }) => workerId)),
    plainArray(requests.map(({ limit }) => limit)),
    plainArray(requests.map(({ leaseMs }) => leaseMs)),
    now,
  ]);
  const position = new Map(queues.map((queue, index) => [queue, index]));
  const jobs = rows.map((row) => ({ job: fromRow(row), place: '' }));
  for (const one of jobs) one.place = placeOf(one.job);
  jobs.sort(
    (a, b) => (position.get(a.job.queue) ?? 0) - (position.get(b.job.queue) ?? 0) || (a.place < b.place ? -1 : 1),
  );
  const inOrder = jobs.map(({ job }) => job);
  moveFloors(base, tenant, queues, inOrder, inOrder.length >= wanted, lowered);
  return Map.groupBy(inOrder, (job) => job.claimId ?? '');
}

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

type ByIdCells = [n: number, status: string | null, ...row: Row];

export async function claimById(base: Base, request: ClaimByIdRequest): Promise<ClaimAnswer[]> {
  const { tenant, claimId, workerId, leaseMs, now } = request;
  const answers: ClaimAnswer[] = request.ids.map(() => ({ status: 'unknown' }));
  const ids = [...new Set(request.ids.filter(isId))];
  if (ids.length === 0) return answers;
  const cells = [tenant, plainArray(ids), claimId, workerId, leaseMs, now];
  const rows = await base.link.query<ByIdCells>(base.sql['claim-by-id'], cells);
  const found = new Map<string, ClaimAnswer>(
    rows.map(([n, status, ...row]) => [
      ids[n - 1]!,
      status === null ? { status: 'claimed', job: fromRow(row) } : ({ status } as ClaimAnswer),
    ]),
  );
  return request.ids.map((id, index) => found.get(id) ?? answers[index]!);
}
