import {
  type LimitRule,
  nextAdmission,
  type OpeningQuery,
  type QueueInfo,
  type QueueKeep,
  type QueueStats,
  type QueueStore,
} from '@waybill/core';
import { type RuleCells, ruleCells, ruleOf, windowOf } from '../limit-rows.ts';
import { textArray } from './arrays.ts';
import type { Base } from './base.ts';
import { keyOf } from './keys.ts';

export const queueStore = (base: Base): QueueStore => ({
  list: (tenant) => listQueues(base, tenant),
  stats: (tenant, name, { atMost }) => queueStats(base, tenant, name, atMost),
  setPaused: (tenant, name, paused) => setPaused(base, tenant, name, paused),
  setLimit: (tenant, name, limit) => setLimit(base, tenant, name, limit),
  setKeep: (tenant, name, keep) => setKeep(base, tenant, name, keep),
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

/** Undoing what was never done makes no queue. */
async function setPaused({ link, sql }: Base, tenant: string, name: string, paused: boolean): Promise<QueueInfo> {
  const [found] = await link.query<InfoCells>(sql[paused ? 'queue-pause' : 'queue-resume'], [tenant, name]);
  if (!paused) link.wake([name]);
  return found ? infoOf(tenant, found) : unknown(tenant, name);
}

async function setLimit(
  { link, sql, unlimited }: Base,
  tenant: string,
  name: string,
  limit: LimitRule | null,
): Promise<QueueInfo> {
  unlimited.delete(keyOf(tenant, name));
  const [found] =
    limit === null
      ? await link.query<InfoCells>(sql['queue-unlimit'], [tenant, name])
      : await link.query<InfoCells>(sql['queue-limit'], [tenant, name, ...ruleCells(limit)]);
  link.wake([name]);
  return found ? infoOf(tenant, found) : unknown(tenant, name);
}

async function setKeep({ link, sql }: Base, tenant: string, name: string, keep: QueueKeep): Promise<QueueInfo> {
  const [found] = await link.query<InfoCells>(sql[keep === 'none' ? 'queue-forget' : 'queue-keep'], [tenant, name]);
  return found ? infoOf(tenant, found) : unknown(tenant, name);
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
