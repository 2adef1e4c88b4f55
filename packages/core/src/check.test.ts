import { expect, test } from 'vitest';
import { checkJson, Fields, MAX_JSON_DEPTH } from './check.ts';

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

test('JSON up to the depth limit passes, deeper JSON is refused without harm', () => {
  expect(() => checkJson(nested(MAX_JSON_DEPTH))).not.toThrow();
  expect(() => checkJson(nested(MAX_JSON_DEPTH + 1))).toThrow('nested deeper');
  expect(() => checkJson(nested(10_000))).toThrow('nested deeper');
});

test('a prototype key is refused however it is written and wherever it stands', () => {
  expect(() => checkJson(JSON.parse('{"a":[{"\\u005f_proto__":{"admin":true}}]}'))).toThrow('__proto__');
  expect(() => checkJson(JSON.parse('{"constructor":{"prototype":1}}'))).not.toThrow();
});

test('a number that does not fit is refused, since it would be stored as null', () => {
  expect(() => checkJson(JSON.parse('[1e999]'))).toThrow('too large');
  expect(() => checkJson(JSON.parse('[1e308, -0, 5e-324]'))).not.toThrow();
});

test('C9: characters are counted as JSON Schema counts them, so that a pair of surrogates is one', () => {
  const read = (text: string) => new Fields({ name: text }).string('name', { max: 3 });
  expect(read('🚚🚚🚚')).toBe('🚚🚚🚚');
  for (const text of ['🚚🚚🚚🚚', '🚚🚚🚚a', 'abcd', 'abcdefgh']) expect(() => read(text)).toThrow('at most 3');
});
