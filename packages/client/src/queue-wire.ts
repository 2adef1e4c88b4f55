import type { QueueInfo, QueueStats } from '@waybill/core';
import { limitRuleToWire, type WireLimitRule } from './limit-wire.ts';
import { present } from './present.ts';

export interface WireQueue {
  name: string;
  status: 'active' | 'paused';
  paused: boolean;
  /** Of the queue as a whole. */
  limit?: WireLimitRule;
}

/** Counts stop at a bound; `completed`, `cancelled` and `discarded` are totals since the queue began. */
export interface WireQueueCounts {
  /** Jobs that wait for a limit included. */
  available: number;
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
}

export interface WireQueueStats extends WireQueue, WireQueueCounts {}

export function queueToWire({ name, paused, limit }: QueueInfo): WireQueue {
  return { name, status: paused ? 'paused' : 'active', paused, ...(limit && { limit: limitRuleToWire(limit) }) };
}

export function queueCounts(stats: QueueStats, now: number): WireQueueCounts {
  const { active, scheduled, retryable, pending, completed, cancelled, discarded, oldestAt } = stats;
  const available = stats.available + stats.parked;
  const age = oldestAt === null ? null : Math.max(0, now - oldestAt);
  return {
    available,
    active,
    scheduled,
    retryable,
    pending,
    completed,
    cancelled,
    discarded,
    depth: available + scheduled + retryable,
    ...present('oldest_age_ms', age),
  };
}
