import type { LimitRule, LimitUse } from '@waybill/core';

type Window = LimitUse['window'];

/** A rule as three columns; all null: there is none. */
export type RuleCells = [concurrency: number | null, rateLimit: number | null, ratePeriodMs: number | null];

export const NO_RULE: LimitRule = { concurrency: null, rate: null };

export function ruleOf(concurrency: number | null, limit: number | null, periodMs: number | null): LimitRule | null {
  const rate = limit === null || periodMs === null ? null : { limit, periodMs };
  return concurrency === null && rate === null ? null : { concurrency, rate };
}

export function ruleCells(rule: LimitRule | null): RuleCells {
  return [rule?.concurrency ?? null, rule?.rate?.limit ?? null, rule?.rate?.periodMs ?? null];
}

export function isSameRule(one: LimitRule | null, other: LimitRule): boolean {
  const cells = ruleCells(other);
  return ruleCells(one).every((cell, index) => cell === cells[index]);
}

export const windowOf = (cell: string | null): Window => (cell === null ? [] : (JSON.parse(cell) as Window));

export const windowCell = (window: Window): string | null => (window.length === 0 ? null : JSON.stringify(window));

/** Windows count in parts of a period, so they mean something only while it stays the same. */
export const isSamePeriod = (one: LimitRule | null, other: LimitRule | null): boolean =>
  one?.rate?.periodMs === other?.rate?.periodMs;
