import { describe, expect, it } from 'vitest';
import { aJobIn } from '../testing/factories.ts';
import type { Job, JobState } from './job.ts';
import { nextAtFor } from './next-at.ts';

const NOTHING: Partial<Job> = {
  scheduledAt: null,
  expiresAt: null,
  leaseUntil: null,
  timeoutAt: null,
  finishedAt: null,
  advancePending: false,
};

const KEPT_FOR_7 = { args: [], meta: {}, options: { dead_letter_retention_ms: 7 } };

const CASES: [JobState, Partial<Job>, number | null][] = [
  ['scheduled', { scheduledAt: 5 }, 5],
  ['scheduled', { scheduledAt: 5, expiresAt: 3 }, 3],
  ['scheduled', { scheduledAt: 5, expiresAt: 9 }, 5],
  ['retryable', { scheduledAt: 5 }, 5],
  ['retryable', { scheduledAt: 5, expiresAt: 3 }, 3],
  ['available', {}, null],
  ['available', { expiresAt: 3 }, 3],
  ['available', { expiresAt: 3, leaseUntil: 1, timeoutAt: 1 }, 3],
  ['active', { leaseUntil: 5 }, 5],
  ['active', { leaseUntil: 5, timeoutAt: 3 }, 3],
  ['active', { leaseUntil: 5, timeoutAt: 9 }, 5],
  ['active', { leaseUntil: 5, expiresAt: 1 }, 5],
  ['active', { leaseUntil: 0, timeoutAt: 3 }, 0],
  ['pending', { expiresAt: 3 }, null],
  ['completed', { finishedAt: 3, expiresAt: 9 }, null],
  ['completed', { finishedAt: 3, advancePending: true }, 3],
  ['cancelled', { finishedAt: 3, advancePending: true }, 3],
  ['discarded', { finishedAt: 3, advancePending: true }, 3],
  ['discarded', { finishedAt: 3 }, null],
  ['discarded', { finishedAt: 3, dead: true }, null],
  ['discarded', { finishedAt: 3, dead: true, spec: KEPT_FOR_7 }, 10],
  ['discarded', { finishedAt: 3, dead: true, spec: KEPT_FOR_7, advancePending: true }, 3],
  ['discarded', { finishedAt: 3, dead: false, spec: KEPT_FOR_7 }, null],
  ['completed', { finishedAt: 3, spec: KEPT_FOR_7 }, null],
];

describe('nextAtFor', () => {
  it.each(CASES)('%s with %j: %s', (state, columns, expected) => {
    expect(nextAtFor({ ...aJobIn('available'), ...NOTHING, ...columns, state })).toBe(expected);
  });
});
