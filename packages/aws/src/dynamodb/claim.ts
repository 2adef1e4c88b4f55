import { randomUUID } from 'node:crypto';
import { type ClaimRequest, type Job, rankOf } from '@waybill/core';
import type { Base } from './base.ts';
import { takeRows } from './claim-rows.ts';
import { absent, any, equals } from './conditions.ts';
import { pause } from './failures.ts';
import { type Item, keyOf } from './items.ts';
import { claimKey, jobKey, partsOf, queueKey, readyPartition, tenantLimitKey } from './keys.ts';
import { claimLines } from './locks.ts';
import { type Gate, gateOf, readGates } from './queue-gate.ts';
import { readRows, wholeJobs } from './read.ts';
import { secondsOf, stateOf } from './rows.ts';
import type { TenantItem } from './tenant-gate.ts';

/** How long a repeated claim is known: longer than anybody tries again. */
const CLAIMS_KEPT_MS = 86_400_000;
const ROUNDS = 4;
/** How far ahead of the wanted rows to look, when others were faster at the head of the line. */
const LOOK_AHEAD = 5;
const MOST_PER_LOOK = 200;
const MOST_LOOKS = 20;

/** Requests of one call go one after the other: they want the same rows. */
export async function claim(base: Base, requests: readonly ClaimRequest[]): Promise<Job[][]> {
  const answers: Job[][] = [];
  for (const request of requests) {
    // One claimer at a time per process and tenant: rivals under one roof would only cost each other writes.
    answers.push(await base.locks.run([`claims ${request.tenant}`], () => claimNext(base, request)));
  }
  return answers;
}

async function claimNext(base: Base, request: ClaimRequest): Promise<Job[]> {
  const { tenant, claimId, now } = request;
  const queues = [...new Set(request.queues)];
  const key = claimKey(tenant, claimId);
  // Where no limit is known, it is read with the first jobs that are found: most claims find none.
  const limits = base.queues.isTenantLimited(tenant) ? [tenantLimitKey(tenant)] : [];
  const settings = [...queues.map((name) => queueKey(tenant, name)), ...limits];
  const [known, ...items] = await base.db.getAll([key, ...settings]);
  let tenantItem: TenantItem = limits.length > 0 ? items[queues.length] : 'unread';
  if (known) return repeat(base, request, known);
  const claimed: Job[] = [];
  const noted: string[] = [];
  const call = randomUUID();
  for (const [index, queue] of queues.entries()) {
    if (claimed.length >= request.limit) break;
    await base.locks.run(claimLines(tenant, queue, limits.length > 0), async () => {
      const given = new Set<string>();
      for (let round = 0; round < ROUNDS; round++) {
        const gate = await gateOf(base, tenant, queue, items[index], tenantItem, now);
        const wanted = Math.min(request.limit - claimed.length, gate.room);
        if (gate.isPaused || wanted <= 0) return;
        const rows = await findReady(base, tenant, queue, gate, wanted, now, given, round);
        if (rows.length === 0) return;
        for (const row of rows) noted.push(`${partsOf(row['pk'] as string)[1]} ${row['vr']}`);
        const [isOurs, limit] = await Promise.all([
          note(base, request, call, noted),
          tenantItem === 'unread' ? base.db.get(tenantLimitKey(tenant)) : undefined,
        ]);
        if (!isOurs) return;
        if (tenantItem === 'unread') {
          tenantItem = limit;
          // How many may start is to be found out anew.
          if (limit) continue;
        }
        const taken = await takeRows(base, rows, gate, request);
        claimed.push(...taken.jobs.filter((job) => job !== null));
        if (claimed.length >= request.limit || taken.jobs.every((job) => job !== null)) return;
        for (const [place, job] of taken.jobs.entries()) if (job) given.add(rows[place]!['pk'] as string);
        await pause(round);
      }
    });
  }
  return claimed;
}

/**
 * Written before the runs begin, so that a repetition knows what the first call was about. Refused when another call
 * with the same claim id is under way: it may have these rows.
 */
async function note(base: Base, request: ClaimRequest, call: string, noted: readonly string[]): Promise<boolean> {
  const { tenant, claimId, now } = request;
  const put = { ...claimKey(tenant, claimId), w: call, p: noted, x: secondsOf(now + CLAIMS_KEPT_MS) };
  return (await base.db.write({ put, if: any(absent(), equals('w', call)) })).ok;
}

/** Answers what the claim holds; finishes what a call that died had chosen, and chooses nothing new. */
async function repeat(base: Base, request: ClaimRequest, known: Item): Promise<Job[]> {
  const { tenant, claimId, now } = request;
  const chosen = new Map((known['p'] as readonly string[]).map((one) => one.split(' ') as [string, string]));
  const rows = await readRows(
    base,
    [...chosen.keys()].map((id) => jobKey(tenant, id)),
  );
  const held: Job[] = [];
  for (const row of rows) {
    if (!row) continue;
    const id = partsOf(row['pk'] as string)[1]!;
    if (stateOf(row) === 'active' && row['ck'] === claimId) held.push(...(await wholeJobs(base, [row])));
    else if (String(row['vr']) === chosen.get(id) && stateOf(row) === 'available') {
      const queue = row['q'] as string;
      const { items, tenantItem } = await readGates(base, tenant, [queue]);
      const gate = await gateOf(base, tenant, queue, items.get(queue), tenantItem, now);
      if (gate.isPaused || gate.room <= 0) continue;
      const taken = await takeRows(base, [row], gate, request);
      held.push(...taken.jobs.filter((job) => job !== null));
    }
  }
  return held.sort((a, b) => (rankOf(a.priority, a.seq) < rankOf(b.priority, b.seq) ? -1 : 1));
}

/** Rows that can be claimed now, first in line first. After a lost race it looks further and picks by chance. */
async function findReady(
  base: Base,
  tenant: string,
  queue: string,
  gate: Gate,
  wanted: number,
  now: number,
  given: ReadonlySet<string>,
  round: number,
): Promise<Item[]> {
  if (!base.settings.claimsByRank) return [];
  const found: Item[] = [];
  const enough = round === 0 ? wanted : wanted * LOOK_AHEAD;
  const lines = Array.from({ length: gate.shards }, (_, shard) =>
    lineOf(base, readyPartition(tenant, queue, shard), enough),
  );
  for (let look = 0; look < MOST_LOOKS && found.length < enough; look++) {
    const entries = (await Promise.all(lines.map((line) => line.next()))).flatMap(({ value }) => value ?? []);
    if (entries.length === 0) break;
    const fresh = entries.filter((entry) => !given.has(entry['pk'] as string)).sort(byRank);
    const rows = await readRows(base, fresh.map(keyOf), { strong: round > 0 });
    found.push(...rows.filter((row) => row !== undefined).filter((row) => isReady(row, now)));
  }
  found.sort(byRank);
  if (round > 0) shuffle(found);
  return found.slice(0, wanted).sort(byRank);
}

/** Page by page, so that what has expired at the head does not hide the rest. */
async function* lineOf({ db }: Base, partition: string, wanted: number): AsyncGenerator<Item[], undefined> {
  let after: Item | undefined;
  do {
    const limit = Math.min(MOST_PER_LOOK, Math.max(wanted, 2));
    const page = await db.query({ index: 'ready', where: equals('rq', partition), limit, ...(after && { after }) });
    after = page.last;
    yield page.items;
  } while (after);
  return undefined;
}

const byRank = (a: Item, b: Item): number => ((a['rk'] as string) < (b['rk'] as string) ? -1 : 1);

const isReady = (row: Item, now: number): boolean =>
  stateOf(row) === 'available' && 'rk' in row && ((row['ex'] as number | undefined) ?? Number.POSITIVE_INFINITY) > now;

function shuffle(list: unknown[]): void {
  for (let last = list.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [list[last], list[other]] = [list[other], list[last]];
  }
}
