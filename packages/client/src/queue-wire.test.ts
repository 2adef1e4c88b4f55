import type { QueueStats } from '@waybill/core';
import { expect, test } from 'vitest';
import { limitToWire } from './limit-wire.ts';
import { queueCounts, queueToWire } from './queue-wire.ts';

const STATS: QueueStats = {
  ...{ tenant: '', name: 'q', paused: false, keep: 'all', limit: null, oldestAt: null },
  ...{ available: 1, parked: 2, scheduled: 3, retryable: 4, pending: 5, active: 6 },
  ...{ completed: 7, cancelled: 8, discarded: 9 },
};

test('jobs that wait for a limit are available, and depth is what has yet to start', () => {
  const counts = queueCounts(STATS, 0);
  expect(counts).toMatchObject({ available: 3, scheduled: 3, retryable: 4, pending: 5, active: 6, depth: 10 });
  expect(counts).not.toHaveProperty('oldest_age_ms');
});

test('an age is never negative: clocks differ a little', () => {
  expect(queueCounts({ ...STATS, oldestAt: 1_000 }, 1_500).oldest_age_ms).toBe(500);
  expect(queueCounts({ ...STATS, oldestAt: 1_000 }, 900).oldest_age_ms).toBe(0);
});

test('what is not limited is absent', () => {
  expect(queueToWire(STATS)).toEqual({ name: 'q', status: 'active', paused: false });
  expect(queueToWire({ ...STATS, paused: true, limit: { concurrency: 2, rate: null } })).toMatchObject({
    status: 'paused',
    limit: { concurrency: 2 },
  });
  const counts = { tenant: '', key: 'k', holders: 1, parked: 0 };
  expect(limitToWire({ ...counts, rule: null })).toEqual({ key: 'k', holders: 1, parked: 0 });
  expect(limitToWire({ ...counts, rule: { concurrency: null, rate: { limit: 1, periodMs: 1_500 } } })).toEqual({
    ...{ key: 'k', holders: 1, parked: 0 },
    rate: { limit: 1, period: 'PT1.5S', period_ms: 1_500 },
  });
});
