import type { QueueInfo, QueueKeep, QueueStats } from '@waybill/core';
import { limitRuleFromWire, limitRuleToWire, type WireLimitRule } from './limit-wire.ts';
import { present } from './present.ts';
import { fromRfc3339, toRfc3339 } from './time.ts';

export interface WireQueue {
  name: string;
  status: 'active' | 'paused';
  paused: boolean;
  /** `none` when completed jobs leave nothing behind; else absent. */
  keep?: QueueKeep;
  /** Of the queue as a whole. */
  limit?: WireLimitRule;
}

/** Counts stop at a bound; `completed`, `cancelled` and `discarded` are totals since the queue began. */
export interface WireQueueCounts {
  /** Jobs that wait for a limit included. */
  available: number;
  /** How many of these wait for a limit. */
  parked: number;
  active: number;
  scheduled: number;
  retryable: number;
  pending: number;
  completed: number;
  cancelled: number;
  discarded: number;
  /** Available, scheduled and retryable together, as the specification counts it. */
  depth: number;
  /** How long the job that is next in line has been available; absent when there is none. */
  oldest_age_ms?: number;
  /** The same as a moment. */
  oldest_at?: string;
}

export interface WireQueueStats extends WireQueue, WireQueueCounts {
  /** True when nobody ever used the queue; else absent. */
  unused?: boolean;
}

export function queueToWire({ name, paused, keep, limit }: QueueInfo): WireQueue {
  return {
    ...{ name, status: paused ? 'paused' : 'active', paused },
    ...present('keep', keep === 'all' ? undefined : keep),
    ...(limit && { limit: limitRuleToWire(limit) }),
  };
}

export function queueCounts(stats: QueueStats, now: number): WireQueueCounts {
  const { active, scheduled, retryable, pending, completed, cancelled, discarded, oldestAt } = stats;
  const available = stats.available + stats.parked;
  const age = oldestAt === null ? null : Math.max(0, now - oldestAt);
  return {
    available,
    parked: stats.parked,
    active,
    scheduled,
    retryable,
    pending,
    completed,
    cancelled,
    discarded,
    depth: available + scheduled + retryable,
    ...present('oldest_age_ms', age),
    ...present('oldest_at', oldestAt === null ? null : toRfc3339(oldestAt)),
  };
}

export const queueFromWire = ({ name, paused, keep = 'all', limit }: WireQueue, tenant: string): QueueInfo => ({
  tenant,
  name,
  paused,
  keep,
  limit: limit === undefined ? null : limitRuleFromWire(limit),
});

export function queueStatsFromWire(wire: WireQueueStats, tenant: string): QueueStats {
  const { parked, scheduled, retryable, pending, active, completed, cancelled, discarded } = wire;
  return {
    ...queueFromWire(wire, tenant),
    ...{ available: wire.available - parked, parked, scheduled, retryable, pending, active },
    ...{ completed, cancelled, discarded, oldestAt: fromRfc3339(wire.oldest_at) },
  };
}
