import { nextLeaving, startsIn, type Window, withStarts } from './window.ts';

/** What a limit allows. At least one of the two is set; null means: not limited in this way. */
export interface LimitRule {
  /** Jobs that may be active at once. */
  concurrency: number | null;
  /** Starts in any stretch of one period. */
  rate: { limit: number; periodMs: number } | null;
}

/** What a limit has given out. Slots are given before the claim, starts are counted at the claim. */
export interface LimitUse {
  /** Jobs that hold a slot, claimed or not. */
  holders: number;
  /** Holders that nobody has claimed yet. Each of them may start at any moment, so each takes its place in the rate. */
  unclaimed: number;
  window: Window;
}

export const UNUSED: LimitUse = { holders: 0, unclaimed: 0, window: [] };

/** How many more jobs may be given a slot now. */
export function freeSlots({ concurrency, rate }: LimitRule, use: LimitUse, now: number): number {
  const byConcurrency = concurrency === null ? Number.POSITIVE_INFINITY : concurrency - use.holders;
  const byRate =
    rate === null ? Number.POSITIVE_INFINITY : rate.limit - use.unclaimed - startsIn(use.window, now, rate.periodMs);
  return Math.max(0, Math.min(byConcurrency, byRate));
}

export const admitted = (use: LimitUse, count: number): LimitUse => ({
  ...use,
  holders: use.holders + count,
  unclaimed: use.unclaimed + count,
});

export const claimed = ({ rate }: LimitRule, use: LimitUse, count: number, now: number): LimitUse => ({
  ...use,
  unclaimed: use.unclaimed - count,
  window: rate === null ? [] : withStarts(use.window, count, now, rate.periodMs),
});

/** When waiting jobs can be given slots without anybody settling: the rate lets go of its oldest start. */
export function nextAdmission({ rate }: LimitRule, use: LimitUse, now: number): number | null {
  if (rate === null || startsIn(use.window, now, rate.periodMs) + use.unclaimed < rate.limit) return null;
  return nextLeaving(use.window, now, rate.periodMs);
}

/**
 * When a store must look at a limit that somebody waits for; null: whoever settles lets them in. At once where there is
 * room: the rate may have let go since the last admission, and a write that admits nobody must not take away its alarm.
 */
export const nextLook = (rule: LimitRule, use: LimitUse, now: number): number | null =>
  freeSlots(rule, use, now) > 0 ? now : nextAdmission(rule, use, now);
