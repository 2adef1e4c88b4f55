import { inspect } from 'node:util';
import { WaybillError } from '@waybill/core';
import { expect, test } from 'vitest';
import { errorOf, faultOf, plain } from './failures.ts';

/** As `pg` throws them. */
const serverError = (code: string, fields: object = {}) => Object.assign(new Error('said so'), { code, ...fields });

test.each([
  ['57P01', 'away'],
  ['57P03', 'away'],
  ['08006', 'away'],
  ['53300', 'busy'],
  ['53200', 'busy'],
  ['25006', 'read-only'],
  ['57014', 'slow'],
  ['40001', 'rivals'],
  ['40P01', 'rivals'],
  // A pooler, which names no routine.
  ['08P01', 'away'],
])('%s may be repeated: %s', (code, kind) => {
  expect(faultOf(serverError(code)).kind).toBe(kind);
  expect(errorOf(serverError(code))).toMatchObject({ code: 'unavailable', retryable: true });
});

test.each([
  ['28P01', 'unavailable'],
  ['42501', 'unavailable'],
  ['42P01', 'unavailable'],
  ['55P03', 'unavailable'],
  ['23505', 'internal'],
  ['42601', 'internal'],
])('%s is told at once', (code, ours) => {
  expect(faultOf(serverError(code)).kind).toBeUndefined();
  expect(errorOf(serverError(code)).code).toBe(ours);
});

test('a message that we got wrong is not taken for a lost connection', () => {
  expect(faultOf(serverError('08P01', { routine: 'exec_bind_message' })).kind).toBeUndefined();
});

test('of all the addresses of a host that were tried, one is told', () => {
  const tried = new AggregateError([serverError('ECONNREFUSED'), serverError('ENETUNREACH')]);
  expect(errorOf(tried)).toMatchObject({ message: 'PostgreSQL cannot be reached.', cause: { code: 'ECONNREFUSED' } });
});

test('what is kept of an error shows neither the client nor the row', () => {
  const error = serverError('23514', {
    constraint: 'positive',
    detail: 'Failing row contains (hidden-row).',
    client: { password: 'hidden-password' },
  });
  const kept = plain(error);
  expect(kept).toMatchObject({ message: 'said so', code: '23514', constraint: 'positive' });
  expect(inspect(kept, { depth: 9, showHidden: true })).not.toContain('hidden');
});

test('errors of our own pass unchanged', () => {
  const own = new WaybillError('conflict', 'No.');
  expect(errorOf(own)).toBe(own);
});
