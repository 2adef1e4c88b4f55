import { isDeepStrictEqual } from 'node:util';
import {
  type LimitRule,
  nextAdmission,
  type OpeningQuery,
  type QueueInfo,
  type QueueStats,
  type QueueStore,
  type Told,
} from '@waybill/core';
import { type RuleCells, ruleCells, ruleOf, windowOf } from '../limit-rows.ts';
import { textArray } from './arrays.ts';
import type { Base } from './base.ts';
import { keyOf } from './keys.ts';
import type { QueryName } from './queries.ts';
import { tellingOnce } from './subjects.ts';
import { listTenants, setTenantLimit } from './tenants.ts';

export const queueStore = (base: Base): QueueStore => ({
  list: (tenant) => listQueues(base, tenant),
  stats: (tenant, name, { atMost }) => queueStats(base, tenant, name, atMost),
  setPaused: (tenant, name, paused, told) => setPaused(base, tenant, name, paused, told),
  setLimit: (tenant, name, limit, told) => setLimit(base, tenant, name, limit, told),
  setKeep: (tenant, name, keep, told) => {
    const statement = keep === 'none' ? 'queue-forget' : 'queue-keep';
    return change(base, { tenant, name, statement, cells: [], makesQueue: keep === 'none', told });
  },
  setTenantLimit: (tenant, concurrency) => setTenantLimit(base, tenant, concurrency),
  tenants: (query) => listTenants(base, query),
});

type InfoCells = [name: string, paused: boolean, keeps: boolean, ...RuleCells];

const infoOf = (tenant: string, [name, paused, keeps, ...rule]: InfoCells): QueueInfo => ({
  tenant,
  name,
  paused,
  keep: keeps ? 'all' : 'none',
  limit: ruleOf(...rule),
});

/** A queue that nobody has heard of. */
const unknown = (tenant: string, name: string): QueueInfo => ({
  tenant,
  name,
  paused: false,
  keep: 'all',
  limit: null,
});

async function listQueues({ link, sql }: Base, tenant: string): Promise<QueueInfo[]> {
  return (await link.query<InfoCells>(sql['queue-list'], [tenant])).map((cells) => infoOf(tenant, cells));
}

type StatsCells = [...InfoCells, ...counts: number[]];

async function queueStats(
  { link, sql }: Base,
  tenant: string,
  name: string,
  atMost: number,
): Promise<QueueStats | null> {
  const [found] = await link.query<StatsCells>(sql['queue-stats'], [tenant, name, atMost]);
  if (!found) return null;
  const info = infoOf(tenant, found.slice(0, 6) as InfoCells);
  const [available, parked, scheduled, retryable, pending, active, completed, cancelled, discarded, oldestAt] =
    found.slice(6) as number[];
  return {
    ...info,
    available: available!,
    parked: parked!,
    scheduled: scheduled!,
    retryable: retryable!,
    pending: pending!,
    active: active!,
    completed: completed!,
    cancelled: cancelled!,
    discarded: discarded!,
    oldestAt: oldestAt ?? null,
  };
}

async function setPaused(base: Base, tenant: string, name: string, paused: boolean, told?: Told): Promise<QueueInfo> {
  const statement = paused ? 'queue-pause' : 'queue-resume';
  const info = await change(base, { tenant, name, statement, cells: [], makesQueue: paused, told });
  if (!paused) base.link.wake([name]);
  return info;
}

async function setLimit(
  base: Base,
  tenant: string,
  name: string,
  limit: LimitRule | null,
  told?: Told,
): Promise<QueueInfo> {
  base.unlimited.delete(keyOf(tenant, name));
  const [statement, cells] =
    limit === null ? (['queue-unlimit', []] as const) : (['queue-limit', ruleCells(limit)] as const);
  const info = await change(base, { tenant, name, statement, cells, makesQueue: limit !== null, told });
  base.link.wake([name]);
  return info;
}

interface QueueChange {
  tenant: string;
  name: string;
  /** Takes the tenant, the name and these cells; answers the queue as it is then. */
  statement: QueryName;
  cells: readonly unknown[];
  makesQueue: boolean;
  told: Told | undefined;
}

/** Undoing what was never done makes no queue, and what makes no difference tells nothing. */
function change(base: Base, { tenant, name, statement, cells, makesQueue, told }: QueueChange): Promise<QueueInfo> {
  const { sql } = base;
  return tellingOnce(base)(async (tx, tell) => {
    // First of all, so that of two that make the queue one sees what the other has made of it.
    if (makesQueue) await tx.query(sql['queue-enter'], [tenant, name]);
    const [before] = await tx.query<InfoCells>(sql['queue-lock'], [tenant, name]);
    // Where pruning has removed it since, the statement makes it again.
    if (!before && !makesQueue) return unknown(tenant, name);
    const [after] = await tx.query<InfoCells>(sql[statement], [tenant, name, ...cells]);
    if (told && !isDeepStrictEqual(before ?? [name, false, true, null, null, null], after)) await tell([told]);
    return infoOf(tenant, after!);
  });
}

type OpeningCells = [rateLimit: number, ratePeriodMs: number, starts: string];

/** Asked by whoever found nothing to claim, so that it need not guess when to ask again. */
export async function opensAt(base: Base, { tenant, queues, now }: OpeningQuery): Promise<number | null> {
  const { link, sql, unlimited } = base;
  if (queues.every((queue) => unlimited.has(keyOf(tenant, queue)))) return null;
  const rows = await link.query<OpeningCells>(sql['queues-opening'], [tenant, textArray(queues) ?? '{}']);
  const moments = rows.flatMap(([limit, periodMs, starts]) => {
    const use = { holders: 0, unclaimed: 0, window: windowOf(starts) };
    return nextAdmission({ concurrency: null, rate: { limit, periodMs } }, use, now) ?? [];
  });
  return moments.length === 0 ? null : Math.min(...moments);
}
