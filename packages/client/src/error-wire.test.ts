import { ERROR_CODES, WaybillError } from '@waybill/core';
import { expect, test } from 'vitest';
import { ERROR_TABLE, errorFromWire, errorToWire } from './error-wire.ts';

test('every code has a status, an exit code of its own and a hint', () => {
  expect(Object.keys(ERROR_TABLE).sort()).toEqual([...ERROR_CODES].sort());
  const exits = Object.values(ERROR_TABLE).map(({ exitCode }) => exitCode);
  expect(new Set(exits).size).toBe(exits.length);
  expect(Math.min(...exits)).toBe(1);
  expect(Math.max(...exits)).toBeLessThan(64);
  for (const { status, hint } of Object.values(ERROR_TABLE)) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(hint).toMatch(/\.$/);
  }
});

test('a refusal says what is wrong and what to do', () => {
  const error = new WaybillError('conflict', 'It is done.', { details: { state: 'completed' }, hint: 'Look.' });
  expect(errorToWire(error, 'req_1')).toEqual({
    error: {
      code: 'conflict',
      message: 'It is done.',
      retryable: false,
      details: { state: 'completed' },
      hint: 'Look.',
      docs_url: '/ojs/errors/conflict',
      request_id: 'req_1',
    },
  });
});

test('an unknown caller is sent to no page: it would be refused there as well', () => {
  expect(errorToWire(new WaybillError('unauthenticated', 'Who?'), 'r', 'http://x').error).not.toHaveProperty(
    'docs_url',
  );
});

test('only a validation error has a type, as the suites want it', () => {
  expect(errorToWire(new WaybillError('validation_error', 'x'), 'r').error.type).toBe('validation_error');
  expect(errorToWire(new WaybillError('invalid_request', 'x'), 'r').error).not.toHaveProperty('type');
});

test('an internal error leaks neither message, details, hint nor cause', () => {
  const leaky = new WaybillError('internal', 'secret', { details: { a: 'secret' }, hint: 'secret', cause: 'secret' });
  expect(JSON.stringify(errorToWire(leaky, 'r'))).not.toContain('secret');
  expect(JSON.stringify(errorToWire(WaybillError.from(new Error('secret')), 'r'))).not.toContain('secret');
});

test('a client reads back what a server wrote', () => {
  for (const code of ERROR_CODES) {
    const sent = new WaybillError(code, 'Why.', { details: { field: 'x' }, hint: 'Do.' });
    const got = errorFromWire(JSON.parse(JSON.stringify(errorToWire(sent, 'req_1'))), ERROR_TABLE[code].status);
    expect([got.code, got.requestId]).toEqual([code, 'req_1']);
    if (code !== 'internal') expect(got).toMatchObject({ message: 'Why.', details: { field: 'x' }, hint: 'Do.' });
  }
});

test('a refusal that is not ours is understood by its status', () => {
  const codeOf = (status: number, body: unknown = '<html>') => errorFromWire(body, status).code;
  expect([400, 401, 403, 404, 409, 413, 422, 429].map((status) => codeOf(status))).toEqual([
    'invalid_request',
    'unauthenticated',
    'forbidden',
    'not_found',
    'conflict',
    'payload_too_large',
    'validation_error',
    'rate_limited',
  ]);
  expect([418, 500, 502, 503, 504, 302].map((status) => codeOf(status))).toEqual([
    'invalid_request',
    'internal',
    'unavailable',
    'unavailable',
    'timeout',
    'internal',
  ]);
  expect(codeOf(404, { error: { code: 'toString', message: 5 } })).toBe('not_found');
  expect(errorFromWire(null, 503).message).toContain('503');
});
