import type { Job } from '../../job/job.ts';
import { rankFor, rankOf } from '../../job/rank.ts';
import { claimed, freeSlots, type LimitRule, type LimitUse, nextAdmission } from '../../limits/limit.ts';
import type { Window } from '../../limits/window.ts';
import type { LimitInfo } from '../limits.ts';
import { keyOf, type LimitState, type MemoryState } from './state.ts';

/** Gives every free slot of a limit to the parked jobs that stand first in line. */
export function admit(state: MemoryState, tenant: string, key: string, now: number): Job[] {
  const limit = state.limit(tenant, key);
  const free = limit.rule === null ? Number.POSITIVE_INFINITY : freeSlots(limit.rule, useOf(state, limit), now);
  return parked(state, limit)
    .slice(0, free)
    .map((waiting) => {
      const job = { ...waiting, holdsSlot: true };
      job.rank = rankFor(job);
      state.write(job);
      return job;
    });
}

/** What a rate has let go of since. */
export const admitAll = (state: MemoryState, now: number): Job[] =>
  [...state.limits.values()].flatMap(({ tenant, key }) => admit(state, tenant, key, now));

/** When a rate lets go of something that a parked job waits for. */
export const admissionTimes = (state: MemoryState, now: number): number[] =>
  [...state.limits.values()].flatMap((limit) => {
    if (limit.rule === null || parked(state, limit).length === 0) return [];
    return nextAdmission(limit.rule, useOf(state, limit), now) ?? [];
  });

/** A job with a slot has begun to run. */
export function countStart(state: MemoryState, { tenant, limitKey }: Job, now: number): void {
  if (limitKey === null) return;
  const limit = state.limit(tenant, limitKey);
  if (limit.rule !== null) limit.window = claimed(limit.rule, useOf(state, limit), 1, now).window;
}

/** A job of the limit has come or changed. Should the limit have been removed, the job brings its rule back. */
export function useLimit(state: MemoryState, { tenant, limitKey }: Job, rule: LimitRule | null = null): void {
  if (limitKey === null) return;
  const isKnown = state.limits.has(keyOf(tenant, limitKey));
  const limit = state.limit(tenant, limitKey);
  if (!isKnown) limit.rule = rule;
  limit.usedAt = state.clock.now();
}

export function setRule(state: MemoryState, tenant: string, key: string, rule: LimitRule): void {
  const limit = state.limit(tenant, key);
  limit.window = windowUnder(rule, limit.rule, limit.window);
  limit.rule = rule;
}

/** A window counts in tenths of its period, so it means nothing under another one and begins anew. */
export const windowUnder = (rule: LimitRule | null, before: LimitRule | null, window: Window): Window =>
  rule?.rate?.periodMs === before?.rate?.periodMs ? window : [];

export function setLimit(state: MemoryState, tenant: string, key: string, rule: LimitRule, now: number) {
  setRule(state, tenant, key, rule);
  state.limit(tenant, key).isSetting = true;
  return { admitted: admit(state, tenant, key, now) };
}

export function getLimit(state: MemoryState, tenant: string, key: string): LimitInfo | null {
  const limit = state.limits.get(keyOf(tenant, key));
  if (!limit) return null;
  const { holders } = useOf(state, limit);
  return { tenant, key, rule: limit.rule, holders, parked: parked(state, limit).length };
}

const ofLimit = (state: MemoryState, { tenant, key }: LimitState): Job[] =>
  state.rows().filter((job) => job.tenant === tenant && job.limitKey === key);

function useOf(state: MemoryState, limit: LimitState): LimitUse {
  const holders = ofLimit(state, limit).filter((job) => job.holdsSlot);
  const unclaimed = holders.filter((job) => job.state === 'available').length;
  return { holders: holders.length, unclaimed, window: limit.window };
}

/** By priority, then by place in the queue. */
const parked = (state: MemoryState, limit: LimitState): Job[] =>
  ofLimit(state, limit)
    .filter((job) => job.state === 'available' && !job.holdsSlot)
    .sort((a, b) => (rankOf(a.priority, a.seq) < rankOf(b.priority, b.seq) ? -1 : 1));
