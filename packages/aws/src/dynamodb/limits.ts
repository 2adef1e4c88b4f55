import type { Job, LimitInfo, LimitRule } from '@waybill/core';
import type { Base } from './base.ts';
import { all, begins, equals } from './conditions.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import type { Item } from './items.ts';
import { limitKey, limitPk } from './keys.ts';
import { LimitDraft } from './limit-draft.ts';
import { limitOf } from './limit-items.ts';
import { limitLine } from './locks.ts';
import { wholeJobs } from './read.ts';
import { isGone } from './rows.ts';

/** More are counted by nobody who only wants to know whether there are many. */
const MOST_PARKED_COUNTED = 10_000;

export interface LimitName {
  tenant: string;
  key: string;
}

/** Gives out what is free, transaction by transaction; the caller stands in the limit's line. Answers rows. */
async function admitAll(base: Base, { tenant, key }: LimitName, rule?: LimitRule): Promise<Item[]> {
  const rows: Item[] = [];
  for (let round = 0; round < MOST_TRIES; round++) {
    const draft = await LimitDraft.read(base, tenant, key);
    if (rule) {
      draft.setRule(rule);
      draft.keep();
    }
    draft.admit();
    const { writes, admitted, isMore } = await draft.finish(base, base.settings.clock.now());
    if (await base.db.transact(writes)) {
      rows.push(...admitted);
      if (!isMore) return rows;
      round = 0;
    } else await pause(Math.min(round, 4));
  }
  throw tooContended(`The limit ${key}`);
}

export const admitMore = async (base: Base, limit: LimitName | null): Promise<Item[]> =>
  limit ? admitAll(base, limit) : [];

/** For whoever does not stand in the limit's line yet. */
export async function admit(base: Base, limit: LimitName): Promise<Job[]> {
  const rows = await base.locks.run([limitLine(limit.tenant, limit.key)], () => admitAll(base, limit));
  const jobs = await wholeJobs(base, rows);
  base.wakes.jobs(jobs);
  return jobs;
}

export async function setLimit(base: Base, tenant: string, key: string, rule: LimitRule): Promise<{ admitted: Job[] }> {
  const rows = await base.locks.run([limitLine(tenant, key)], () => admitAll(base, { tenant, key }, rule));
  const admitted = await wholeJobs(base, rows);
  base.wakes.jobs(admitted);
  return { admitted };
}

export async function getLimit(base: Base, tenant: string, key: string): Promise<LimitInfo | null> {
  const item = await base.db.get(limitKey(tenant, key));
  if (!item || isGone(item, base.settings.clock.now())) return null;
  const { rule, use } = limitOf(tenant, key, item);
  const where = all(equals('pk', limitPk(tenant, key)), begins('sk', 'P#'));
  const parked = await base.db.queryAll({ where }, MOST_PARKED_COUNTED);
  return { tenant, key, rule, holders: use.holders, parked: parked.length };
}
