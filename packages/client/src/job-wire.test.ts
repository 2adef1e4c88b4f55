import type { Job } from '@waybill/core';
import { aJob } from '@waybill/core/testing';
import { describe, expect, test } from 'vitest';
import { jobToWire } from './job-wire.ts';

const AT = Date.UTC(2030, 0, 1);
const TEXT = '2030-01-01T00:00:00.000Z';

const job = (over: Partial<Job> = {}): Job => ({ ...aJob().job, ...over });
const failure = { code: 'handler_error', message: 'no', attempt: 1, run: 1, occurredAt: AT };

test('a new job shows what it is and nothing that has not happened', () => {
  const { id } = aJob().job;
  expect(jobToWire(job({ id }))).toEqual({
    specversion: '1.0',
    id,
    type: 'test.job',
    state: 'available',
    queue: 'default',
    args: [],
    meta: {},
    priority: 0,
    attempt: 0,
    max_attempts: 3,
    run: 0,
    created_at: TEXT,
    enqueued_at: TEXT,
  });
});

test('unknown fields come back at the top, but cannot pass for ours', () => {
  const extra = {
    x_custom: 1,
    run: 99,
    next_attempt_at: 'x',
    next_retry_at: 'x',
    specversion: 'x',
    timeout_ms: 5,
    id: 'x',
    state: 'x',
    node: 'x',
    args_url: 'x',
    result_url: 'x',
  };
  const wire = jobToWire(job({ spec: { args: [], meta: {}, extra } }));
  expect(wire).toMatchObject({ x_custom: 1, run: 0, state: 'available' });
  expect(wire).not.toHaveProperty('next_attempt_at');
  expect(wire).not.toHaveProperty('timeout_ms');
  expect(wire).not.toHaveProperty('node');
  expect(wire).not.toHaveProperty('args_url');
  expect(wire).not.toHaveProperty('result_url');
  expect(wire.id).not.toBe('x');
});

describe('times depend on the state', () => {
  const times = (over: Partial<Job>) => {
    const { scheduled_at, completed_at, cancelled_at, discarded_at, next_attempt_at } = jobToWire(job(over));
    return { scheduled_at, completed_at, cancelled_at, discarded_at, next_attempt_at };
  };
  test.each<[string, Partial<Job>, object]>([
    ['scheduled', { state: 'scheduled', scheduledAt: AT }, { scheduled_at: TEXT }],
    ['retryable', { state: 'retryable', scheduledAt: AT }, { next_attempt_at: TEXT }],
    ['completed', { state: 'completed', outcome: 'completed', finishedAt: AT }, { completed_at: TEXT }],
    ['cancelled', { state: 'cancelled', outcome: 'cancelled', finishedAt: AT }, { cancelled_at: TEXT }],
    [
      'exhausted',
      { state: 'discarded', outcome: 'failed', finishedAt: AT },
      { completed_at: TEXT, discarded_at: TEXT },
    ],
    ['expired', { state: 'discarded', outcome: 'expired', finishedAt: AT }, { discarded_at: TEXT }],
  ])('%s', (_name, over, expected) => expect(times(over)).toEqual(expected));
});

test('an absolute expiry comes back letter by letter, a relative one as the time it meant', () => {
  const expiry = (expires_at: string, expiresAt: number | null = AT) =>
    jobToWire(job({ expiresAt, spec: { args: [], meta: {}, options: { expires_at } } })).expires_at;
  expect(expiry('2030-01-01T02:00:00+02:00')).toBe('2030-01-01T02:00:00+02:00');
  expect(expiry('+PT5S')).toBe(TEXT);
  expect(expiry('2030-01-01T00:00:00Z', null)).toBeUndefined();
});

test('an error always has a type: its own, its class, or its code', () => {
  const typeOf = (over: object) => jobToWire(job({ errors: [{ ...failure, ...over }] })).error?.type;
  expect(typeOf({ type: 'SmtpError', details: { error_class: 'Other' } })).toBe('SmtpError');
  expect(typeOf({ details: { error_class: 'DbError' } })).toBe('DbError');
  expect(typeOf({ details: { error_class: 5 } })).toBe('handler_error');
  expect(typeOf({ details: ['x'] })).toBe('handler_error');
  expect(typeOf({})).toBe('handler_error');
});

test('a completed job keeps its history but shows no error', () => {
  const wire = jobToWire(job({ state: 'completed', errors: [failure], result: 0 }));
  expect(wire).not.toHaveProperty('error');
  expect(wire.errors).toHaveLength(1);
  expect(wire.result).toBe(0);
});

test('a lease token is shown only with a run that is active', () => {
  expect(jobToWire(job({ state: 'active' }), { leaseToken: '1.x' }).lease_token).toBe('1.x');
  expect(jobToWire(job({ state: 'active' }))).not.toHaveProperty('lease_token');
  expect(jobToWire(job({ state: 'completed' }), { leaseToken: '1.x' })).not.toHaveProperty('lease_token');
});

test('a node of a workflow says so, and its worker is told what came before it', () => {
  const node = job({ state: 'active', workflowId: 'w', node: 'a' });
  expect(jobToWire(node)).toMatchObject({ workflow_id: 'w', node: 'a' });
  expect(jobToWire(node)).not.toHaveProperty('parent_results');
  const run = jobToWire(node, { leaseToken: 't', parentResults: [{ n: 1 }, null] });
  expect(run).toMatchObject({ lease_token: 't', parent_results: [{ n: 1 }, null] });
});
