import type { Job, LimitInfo, LimitRule, LimitStore } from '@waybill/core';
import { ruleOf } from '../limit-rows.ts';
import type { Base } from './base.ts';
import { LimitBook } from './limit-book.ts';

/** More are counted by nobody who only wants to know whether there are many. */
const MOST_PARKED_COUNTED = 10_000;

export const limitStore = (base: Base): LimitStore => ({
  set: (tenant, key, rule, now) => setLimit(base, tenant, key, rule, now),
  get: (tenant, key) => getLimit(base, tenant, key),
});

async function setLimit(
  base: Base,
  tenant: string,
  key: string,
  rule: LimitRule,
  now: number,
): Promise<{ admitted: Job[] }> {
  const admitted = await base.link.transaction(async (tx) => {
    const book = await LimitBook.lock(base, tx, [{ tenant, key }], now);
    book.setRule(tenant, key, rule);
    book.keep(tenant, key);
    const jobs = await book.admit(tenant, key);
    await book.write();
    return jobs;
  });
  base.bell.ready(admitted);
  return { admitted };
}

type LimitCells = [number | null, number | null, number | null, number, number];

async function getLimit({ link, sql }: Base, tenant: string, key: string): Promise<LimitInfo | null> {
  const [found] = await link.query<LimitCells>(sql['limit-get'], [tenant, key, MOST_PARKED_COUNTED]);
  if (!found) return null;
  const [concurrency, rateLimit, ratePeriodMs, holders, parked] = found;
  return { tenant, key, rule: ruleOf(concurrency, rateLimit, ratePeriodMs), holders, parked };
}
