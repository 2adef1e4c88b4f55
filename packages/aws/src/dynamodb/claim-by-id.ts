import { type ClaimAnswer, type ClaimByIdRequest, isFinished } from '@waybill/core';
import type { Base } from './base.ts';
import { takeRows } from './claim-rows.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import type { Item } from './items.ts';
import { jobKey } from './keys.ts';
import { claimLines } from './locks.ts';
import { type GateItems, gateOf, readGates } from './queue-gate.ts';
import { readRows, wholeJobs } from './read.ts';
import { stateOf } from './rows.ts';

/** Hints are often late or doubled, so rows are read cheaply first and exactly where that matters. */
export async function claimById(base: Base, request: ClaimByIdRequest): Promise<ClaimAnswer[]> {
  const { tenant } = request;
  const ids = [...new Set(request.ids)];
  const answers = new Map<string, ClaimAnswer>();
  let open = ids;
  for (let round = 0; open.length > 0; round++) {
    if (round > MOST_TRIES) throw tooContended(`The job ${open[0]}`);
    const rows = await readRows(
      base,
      open.map((id) => jobKey(tenant, id)),
      { strong: round > 0 },
    );
    open = await answerAll(base, request, open, rows, answers, round > 0);
    if (round > 0 && open.length > 0) await pause(Math.min(round, 4));
  }
  return request.ids.map((id) => answers.get(id)!);
}

/** Fills in what can be said by these rows; answers the ids that must be read again. */
async function answerAll(
  base: Base,
  request: ClaimByIdRequest,
  ids: readonly string[],
  rows: readonly (Item | undefined)[],
  answers: Map<string, ClaimAnswer>,
  isExact: boolean,
): Promise<string[]> {
  const again: string[] = [];
  const byQueue = new Map<string, [id: string, row: Item][]>();
  for (const [index, id] of ids.entries()) {
    const answer = await refusal(base, rows[index], request);
    if (answer === null) {
      const queue = rows[index]!['q'] as string;
      byQueue.set(queue, [...(byQueue.get(queue) ?? []), [id, rows[index]!]]);
    } else if (isExact || isLasting(answer)) answers.set(id, answer);
    else again.push(id);
  }
  const gates = await readGates(base, request.tenant, [...byQueue.keys()]);
  // Jobs of all queues share the limit of a tenant, so there they take their turns in the order of the ids.
  const turns = gates.tenantItem ? oneByOne(ids, byQueue) : [...byQueue];
  for (const [queue, entries] of turns) {
    const rest = await base.locks.run(claimLines(request.tenant, queue, gates.tenantItem !== undefined), () =>
      takeById(base, request, queue, gates, entries, answers, isExact),
    );
    again.push(...rest);
  }
  return again;
}

type Entry = [id: string, row: Item];

function oneByOne(ids: readonly string[], byQueue: ReadonlyMap<string, Entry[]>): [queue: string, Entry[]][] {
  const places = new Map(ids.map((id, index) => [id, index]));
  return [...byQueue]
    .flatMap(([queue, entries]) => entries.map((entry): [string, Entry[]] => [queue, [entry]]))
    .sort(([, [a]], [, [b]]) => places.get(a![0])! - places.get(b![0])!);
}

async function takeById(
  base: Base,
  request: ClaimByIdRequest,
  queue: string,
  { items, tenantItem }: GateItems,
  entries: readonly [id: string, row: Item][],
  answers: Map<string, ClaimAnswer>,
  isExact: boolean,
): Promise<string[]> {
  const gate = await gateOf(base, request.tenant, queue, items.get(queue), tenantItem, request.now);
  if (gate.isPaused) {
    for (const [id] of entries) answers.set(id, { status: 'paused' });
    return [];
  }
  const within = entries.slice(0, Math.min(gate.room, entries.length));
  for (const [id] of entries.slice(within.length)) answers.set(id, { status: 'parked' });
  const taken = await takeRows(
    base,
    within.map(([, row]) => row),
    gate,
    request,
  );
  const again: string[] = [];
  for (const [index, [id, row]] of within.entries()) {
    const job = taken.jobs[index];
    if (job) answers.set(id, { status: 'claimed', job });
    else if (isExact && hasExpired(row, request.now)) answers.set(id, { status: 'not_due' });
    else again.push(id);
  }
  return again;
}

/** What no later read would answer otherwise. */
const isLasting = ({ status }: ClaimAnswer): boolean => ['finished', 'claimed', 'elsewhere'].includes(status);

const hasExpired = (row: Item, now: number): boolean => 'ex' in row && (row['ex'] as number) <= now;

/** Why a row cannot be claimed, or that it is held by this very claim; null: it can, as far as the row says. */
async function refusal(base: Base, row: Item | undefined, request: ClaimByIdRequest): Promise<ClaimAnswer | null> {
  if (!row) return { status: 'unknown' };
  const state = stateOf(row);
  if (isFinished(state)) return { status: 'finished' };
  if (state === 'active') {
    const [job] = row['ck'] === request.claimId ? await wholeJobs(base, [row]) : [];
    return job ? { status: 'claimed', job } : { status: 'held' };
  }
  if (state !== 'available') return { status: 'not_due' };
  if (request.queues && !request.queues.includes(row['q'] as string)) return { status: 'elsewhere' };
  return 'lk' in row && !('hs' in row) ? { status: 'parked' } : null;
}
