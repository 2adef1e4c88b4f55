import { inspect } from 'node:util';
import { silentLogger, WaybillError } from '@waybill/core';
import { expect, test } from 'vitest';
import { postgresStore } from '../store.ts';
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

test.each([
  { url: 'postgres://u:s3cret@127.0.0.1:1/orders' },
  { config: { host: '127.0.0.1', port: 1, database: 'orders', password: 's3cret' } },
  { config: { connectionString: 'postgres://u:s3cret@127.0.0.1:1/orders' } },
])('D3: a server that cannot be reached is named, without its password', async (options) => {
  const refused = postgresStore({ ...options, patienceMs: 0, logger: silentLogger });
  const error = await refused.then(undefined, (reason: Error) => reason);
  expect(error).toMatchObject({
    code: 'unavailable',
    message: 'PostgreSQL cannot be reached. (127.0.0.1:1/orders)',
  });
  expect(String(error)).not.toContain('s3cret');
});

test('a file that is not there is told from a socket that is not there', () => {
  const socket = serverError('ENOENT', { syscall: 'connect' });
  expect(errorOf(socket).message).toBe('The socket of PostgreSQL does not exist.');
  const certificate = errorOf(serverError('ENOENT', { syscall: 'open' }));
  expect(certificate).toMatchObject({ hint: 'Check sslcert, sslkey and sslrootcert.' });
});
