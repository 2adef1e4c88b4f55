import { expect, test } from 'vitest';
import { timeoutsOf, triesIn } from './timeouts.ts';

test('B1: the tries of a call fit into its time', () => {
  const timeouts = timeoutsOf();
  expect(timeouts).toEqual({ connectMs: 2_000, requestMs: 4_000, callMs: 10_000 });
  expect(triesIn(timeouts)).toBe(2);
  expect(triesIn(timeoutsOf({ requestMs: 10_000 }))).toBe(1);
});

test.each([{ requestMs: 0 }, { callMs: Number.NaN }, { requestMs: 20_000 }])('%j is refused', (told) => {
  expect(() => timeoutsOf(told)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
});
