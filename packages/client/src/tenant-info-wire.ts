import type { JobState, TenantInfo, TenantLimits, TenantStats } from '@waybill/core';
import { toRfc3339 } from './time.ts';

/** How a path and a command name the tenant without a name; no caller may call a tenant so. */
const NAMELESS = '~default';

export const tenantToPath = (tenant: string): string => (tenant === '' ? NAMELESS : tenant);
export const tenantFromPath = (text: string): string => (text === NAMELESS ? '' : text);

export interface WireTenantLimits {
  waiting: number | null;
  enqueue_rate: { limit: number; period_ms: number } | null;
  concurrency: number | null;
}

export interface WireTenant {
  tenant: string;
  limits: WireTenantLimits;
}

export interface WireTenantStats extends WireTenant {
  /** By state; counting stops at a bound. */
  jobs: Record<JobState, number>;
  /** False where counting has stopped. */
  exact: boolean;
  queues: number;
  active: number;
  waiting: number;
  oldest_at: string | null;
}

export function tenantLimitsToWire<Limits extends Partial<TenantLimits>>({
  waiting,
  enqueueRate: rate,
  concurrency,
}: Limits): Limits extends TenantLimits ? WireTenantLimits : Partial<WireTenantLimits> {
  return {
    ...(waiting !== undefined && { waiting }),
    ...(rate !== undefined && { enqueue_rate: rate && { limit: rate.limit, period_ms: rate.periodMs } }),
    ...(concurrency !== undefined && { concurrency }),
  } as never;
}

export const tenantToWire = ({ tenant, limits }: TenantInfo): WireTenant => ({
  ...{ tenant, limits: tenantLimitsToWire(limits) },
});

export const tenantStatsToWire = ({ oldestAt, ...stats }: TenantStats): WireTenantStats => ({
  ...{ ...stats, ...tenantToWire(stats), oldest_at: oldestAt === null ? null : toRfc3339(oldestAt) },
});

export const tenantFromWire = ({ tenant, limits }: WireTenant): TenantInfo => ({
  tenant,
  limits: {
    waiting: limits.waiting,
    enqueueRate: limits.enqueue_rate && {
      ...{ limit: limits.enqueue_rate.limit, periodMs: limits.enqueue_rate.period_ms },
    },
    concurrency: limits.concurrency,
  },
});

export const tenantStatsFromWire = ({ oldest_at, ...stats }: WireTenantStats): TenantStats => ({
  ...{ ...stats, ...tenantFromWire(stats), oldestAt: oldest_at === null ? null : Date.parse(oldest_at) },
});
