import type { LimitInfo, LimitRule } from '@waybill/core';
import { present } from './present.ts';

/** What a limit allows; it may be sent back as it is. */
export interface WireLimitRule {
  concurrency?: number;
  rate?: { limit: number; period: string; period_ms: number };
}

export interface WireLimit extends WireLimitRule {
  key: string;
  /** Jobs that hold a slot. */
  holders: number;
  /** Jobs that wait for one; counting stops at a bound. */
  parked: number;
}

export function limitRuleToWire({ concurrency, rate }: LimitRule): WireLimitRule {
  const shown = rate && { limit: rate.limit, period: `PT${rate.periodMs / 1_000}S`, period_ms: rate.periodMs };
  return { ...present('concurrency', concurrency), ...present('rate', shown) };
}

export function limitToWire({ key, rule, holders, parked }: LimitInfo): WireLimit {
  return { key, ...(rule && limitRuleToWire(rule)), holders, parked };
}

export const limitRuleFromWire = ({ concurrency, rate }: WireLimitRule): LimitRule => ({
  concurrency: concurrency ?? null,
  rate: rate === undefined ? null : { limit: rate.limit, periodMs: rate.period_ms },
});

export function limitFromWire({ key, holders, parked, ...rule }: WireLimit, tenant: string): LimitInfo {
  const isRuled = rule.concurrency !== undefined || rule.rate !== undefined;
  return { tenant, key, rule: isRuled ? limitRuleFromWire(rule) : null, holders, parked };
}
