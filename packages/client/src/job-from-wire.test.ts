import type { Job } from '@waybill/core';
import { aJob, TEST_EPOCH } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { jobFromWire } from './job-from-wire.ts';
import { jobToWire } from './job-wire.ts';

const AT = TEST_EPOCH;
const there = (job: Job): Job => jobFromWire(JSON.parse(JSON.stringify(jobToWire(job))), job.tenant);

/** A row in which nothing is blank, as far as one row can be. */
const FULL: Job = {
  ...aJob().job,
  ...{ tenant: 't', type: 'a.b', queue: 'q', priority: 7, seq: 5, rank: 'r', nextAt: AT, version: 9, state: 'active' },
  ...{ run: 4, attempt: 2, maxAttempts: 5, claimId: 'claim-id', workerId: 'w', leaseMs: 1_000, leaseUntil: AT + 1_000 },
  ...{ timeoutMs: 50, timeoutAt: AT + 60, visibilityMs: 70, createdAt: AT, enqueuedAt: AT + 5, startedAt: AT + 10 },
  ...{ expiresAt: AT + 99, retryDelayMs: 3, idempotencyKey: 'k', uniqueKey: 'u', limitKey: 'l', holdsSlot: true },
  ...{ workflowId: 'w', node: 'n', advancePending: true, result: { r: 1 } },
  errors: [
    { code: 'c', message: 'm', type: 'T', retryable: false, details: { d: [1] }, attempt: 1, run: 3, occurredAt: AT },
    { code: 'c', message: 'm', attempt: 1, run: 3, occurredAt: AT },
  ],
  spec: {
    args: [1, { a: null }],
    meta: { m: 1 },
    tags: ['t'],
    retry: { max_attempts: 5 },
    options: { o: 1 },
    extra: { x: [1] },
  },
};

test('an active job comes back whole, but for the columns that are the engine’s own', () => {
  const back = there(FULL);
  const changed = Object.keys(FULL).filter((name) => {
    const column = name as keyof Job;
    return JSON.stringify(back[column]) !== JSON.stringify(FULL[column]);
  });
  expect(Object.fromEntries(changed.map((name) => [name, back[name as keyof Job]]))).toEqual({
    ...{ seq: 0, rank: null, nextAt: null, version: 0, claimId: null },
    ...{ idempotencyKey: null, uniqueKey: null, limitKey: null, holdsSlot: false, advancePending: false },
  });
  expect(Object.keys(back).sort()).toEqual(Object.keys(FULL).sort());
});

test('what a state does not show becomes blank, what it does comes back', () => {
  const ended = { finishedAt: AT + 1 } as const;
  const told = (over: Partial<Job>) => {
    const { state, outcome, scheduledAt, finishedAt, dead, workerId, leaseUntil, timeoutAt } = there({
      ...FULL,
      ...over,
    });
    return { state, outcome, scheduledAt, finishedAt, dead, workerId, leaseUntil, timeoutAt };
  };
  const blank = {
    outcome: null,
    scheduledAt: null,
    finishedAt: null,
    dead: false,
    workerId: null,
    leaseUntil: null,
    timeoutAt: null,
  };
  expect(told({ state: 'scheduled', scheduledAt: AT + 1 })).toEqual({
    ...blank,
    state: 'scheduled',
    scheduledAt: AT + 1,
  });
  expect(told({ state: 'retryable', scheduledAt: AT + 1, outcome: 'failed' })).toEqual({
    ...blank,
    state: 'retryable',
    scheduledAt: AT + 1,
  });
  for (const state of ['completed', 'cancelled'] as const)
    expect(told({ ...ended, state, outcome: state })).toEqual({ ...blank, ...ended, state, outcome: state });
  expect(told({ ...ended, state: 'discarded', outcome: 'failed', dead: true })).toEqual({
    ...blank,
    ...ended,
    state: 'discarded',
    dead: true,
  });
  expect(told({ ...ended, state: 'discarded', outcome: 'expired' })).toEqual({
    ...blank,
    ...ended,
    state: 'discarded',
    outcome: 'expired',
  });
});

test('the tenant of a job is shown in its meta, and is no part of it', () => {
  expect(jobToWire(FULL).meta).toEqual({ m: 1, tenant_id: 't' });
  expect(jobToWire({ ...FULL, tenant: '' }).meta).toEqual({ m: 1 });
  expect(there(FULL).spec.meta).toEqual({ m: 1 });
  const own = { ...FULL, spec: { ...FULL.spec, meta: { tenant_id: 'own' } } };
  expect(there({ ...own, tenant: '' }).spec.meta).toEqual({ tenant_id: 'own' });
});
