import type { Logger } from '@waybill/core';
import { aJobIn } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { failureOf } from './execute/failure.ts';
import { tellFailure } from './tell-failure.ts';

function told(thrown: unknown): { fields: Record<string, unknown>; line: string } {
  const lines: { fields: Record<string, unknown>; line: string }[] = [];
  const write = (fields: object, line: string) => void lines.push({ fields: { ...fields }, line });
  const logger: Logger = { debug: write, info: write, warn: write, error: write };
  tellFailure(aJobIn('retryable'), {}, { kind: 'failed', error: failureOf(thrown) }, logger);
  return lines[0]!;
}

test('D2: a failure is told with its cause, which often is all that explains it', () => {
  const cause = new Error('connect ECONNREFUSED 127.0.0.1:9');
  expect(told(new TypeError('fetch failed', { cause })).line).toContain(
    'fetch failed (cause: Error: connect ECONNREFUSED 127.0.0.1:9)',
  );
});

test('D2: an error without a message is told by what it holds, or by its class', () => {
  const inner = [new Error('first'), new RangeError('second')];
  expect(told(new AggregateError(inner)).line).toContain('Error: first; RangeError: second');
  expect(told(new RangeError()).line).toContain('RangeError without a message');
});

test('D2: the place that is told is one of the code that ran, and not of Node itself', () => {
  const error = new Error('no');
  error.stack = 'Error: no\n    at TCP.onread (node:net:2021:16)\n    at send (/app/mail.js:12:7)';
  expect(told(error).fields['at']).toBe('/app/mail.js:12:7');
});
