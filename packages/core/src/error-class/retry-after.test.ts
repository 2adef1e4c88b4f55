import { expect, test } from 'vitest';
import { WaybillError } from '../errors.ts';
import { classifyError } from './classify-error.ts';

const NOW = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

const delayOf = (fields: Record<string, unknown>): number | undefined =>
  classifyError({ status: 429, ...fields }, NOW).retryAfterMs;

const told = (value: unknown): number | undefined => delayOf({ headers: { 'retry-after': value } });

test('seconds are read from a Headers object, a plain one, and those of the response', () => {
  expect(delayOf({ headers: new Headers({ 'Retry-After': '3' }) })).toBe(3_000);
  expect(delayOf({ headers: new Map([['retry-after', '3']]) })).toBe(3_000);
  expect(delayOf({ headers: { 'Retry-After': '3' } })).toBe(3_000);
  expect(delayOf({ headers: { 'retry-after': ['3', '9'] } })).toBe(3_000);
  expect(delayOf({ response: { headers: { 'retry-after': 3 } } })).toBe(3_000);
  expect(delayOf({ $response: { headers: { 'retry-after': '3' } } })).toBe(3_000);
  expect(delayOf({ headers: { 'retry-after-ms': '120', 'retry-after': '9' } })).toBe(120);
});

test('a date counts from now, and one that has passed means at once', () => {
  expect(told(new Date(NOW + 90_000).toUTCString())).toBe(90_000);
  expect(told(new Date(NOW - 90_000).toUTCString())).toBe(0);
});

test('no delay is longer than a day', () => {
  expect(told('90000')).toBe(DAY);
  expect(told('999999999999999')).toBe(DAY);
  expect(told(new Date(NOW + 9 * DAY).toUTCString())).toBe(DAY);
});

test('garbage is ignored', () => {
  const garbage = ['', '-1', 'soon', '1e3', '0x10', 'NaN', 'Infinity', 'tomorrow 5', '9'.repeat(99), {}, null, NaN];
  for (const value of [...garbage, 'Xyz, 99 Foo 2026 99:99:99 GMT', '1'.repeat(1_000_000)])
    expect(told(value), String(value).slice(0, 40)).toBe(undefined);
  const get = (): never => {
    throw new Error('no headers');
  };
  expect(delayOf({ headers: { get } })).toBe(undefined);
});

test('a cause tells it, too, and a refusal of Waybill', () => {
  const cause = { status: 429, headers: { 'retry-after': '3' } };
  expect(classifyError(new Error('odd', { cause })).retryAfterMs).toBe(3_000);
  const refusal = new WaybillError('rate_limited', 'odd', { details: { retry_after_ms: 250 } });
  expect(classifyError(refusal).retryAfterMs).toBe(250);
});

test('an error that is not retried has no delay', () => {
  expect(delayOf({ status: 401, headers: { 'retry-after': '3' } })).toBe(undefined);
  expect(delayOf({ status: 409, headers: { 'retry-after': '3' } })).toBe(3_000);
});
