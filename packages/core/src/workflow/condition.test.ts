import { describe, expect, test } from 'vitest';
import type { Comparison, Condition } from '../job/node-rules.ts';
import type { Json } from '../json.ts';
import { holds, partOf, readCondition } from './condition.ts';

const RESULT: Json = { ok: true, n: 5, text: 'b', none: null, list: [{ a: 1 }, 2], deep: { x: { y: [0, 'z'] } } };

const check = (comparison: Omit<Comparison, 'parent'>, result: Json | undefined = RESULT): boolean =>
  holds({ parent: 'p', ...comparison }, () => result);

describe('a comparison', () => {
  test.each<[Omit<Comparison, 'parent'>, boolean]>([
    [{ path: 'ok', equals: true }, true],
    [{ path: 'ok', equals: 'true' }, false],
    [{ path: 'list.0', equals: { a: 1 } }, true],
    [{ path: 'deep.x', equals: { y: [0, 'z'] } }, true],
    [{ path: 'none', equals: null }, true],
    [{ path: 'gone', equals: null }, false],
    [{ path: 'n', notEquals: 5 }, false],
    [{ path: 'gone', notEquals: 5 }, true],
    [{ path: 'n', in: [1, 5] }, true],
    [{ path: 'n', in: [] }, false],
    [{ path: 'n', exists: true }, true],
    [{ path: 'none', exists: true }, false],
    [{ path: 'gone', exists: false }, true],
    [{ path: 'n', gt: 5 }, false],
    [{ path: 'n', gte: 5 }, true],
    [{ path: 'n', lt: 6 }, true],
    [{ path: 'n', lte: 4 }, false],
    [{ path: 'text', gt: 'a' }, true],
    [{ path: 'text', gt: 1 }, false],
    [{ path: 'n', lt: '6' }, false],
    [{ path: 'none', lt: 1 }, false],
    [{ path: 'deep.x.y.1', equals: 'z' }, true],
  ])('%j: %s', (comparison, expected) => expect(check(comparison)).toBe(expected));

  test('of a parent that was skipped finds nothing, and of one that returned null finds null', () => {
    expect(holds({ parent: 'p', exists: false }, () => undefined)).toBe(true);
    expect(holds({ parent: 'p', equals: null }, () => undefined)).toBe(false);
    expect(check({ equals: null }, null)).toBe(true);
  });
});

test('groups', () => {
  const is = (n: number): Condition => ({ parent: 'p', path: 'n', equals: n });
  const on = (condition: Condition) => holds(condition, () => RESULT);
  expect(on({ all: [is(5), { not: is(4) }] })).toBe(true);
  expect(on({ all: [is(5), is(4)] })).toBe(false);
  expect(on({ any: [is(4), is(5)] })).toBe(true);
  expect(on({ not: { any: [is(4), is(5)] } })).toBe(false);
});

test('a path finds only what the value itself has', () => {
  for (const path of [
    'length',
    'constructor',
    '__proto__',
    'toString',
    'list.length',
    'list.-1',
    'text.0',
    'list.0.a.b',
  ]) {
    expect(partOf(RESULT, path)).toBeUndefined();
  }
});

test('a condition stays within its bounds', () => {
  const one: Json = { parent: 'p', equals: 1 };
  const nested = (levels: number): Json => (levels === 1 ? one : { not: nested(levels - 1) });
  expect(readCondition(nested(10), 'when', ['p'])).toEqual(nested(10));
  expect(() => readCondition(nested(11), 'when', ['p'])).toThrow('nested deeper than 10 levels');
  const wide = (count: number): Json => ({ any: [{ all: Array(count).fill(one) }, { all: Array(count).fill(one) }] });
  expect(readCondition(wide(25), 'when', ['p'])).toEqual(wide(25));
  expect(() => readCondition(wide(26), 'when', ['p'])).toThrow('at most 50 comparisons');
});
