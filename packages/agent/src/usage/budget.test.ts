import { expect, test } from 'vitest';
import { type Budget, budgetKeyOf, checkBudget } from './budget.ts';

test.each([
  [{ tokens: 0 }, "'budget.tokens' must be a number above 0"],
  [{ usd: '5' }, "'budget.usd' must be a number above 0"],
  [{ usdd: 5 }, "Did you mean 'usd'?"],
  [{ key: '' }, "'budget.key' must be a text or a function"],
  [{ key: 7 }, "'budget.key' must be a text or a function"],
  [{ whenExceeded: 'stop' }, "'budget.whenExceeded' must be 'fail' or 'wait', not 'stop'"],
])('refuses %j', (budget, text) => {
  expect(() => checkBudget(budget as unknown as Budget, "Agent task 'a.b'")).toThrow(text);
});

test('the key is a text, or made of the input', () => {
  const key = (input: unknown) => (input as { customer?: string }).customer;
  expect(budgetKeyOf({ key: 'all' }, {})).toBe('all');
  expect(budgetKeyOf({ key }, { customer: 'ada' })).toBe('ada');
  expect([budgetKeyOf({ key }, {}), budgetKeyOf({}, {})]).toEqual([undefined, undefined]);
  checkBudget({ tokens: 1, usd: 0.5, key, whenExceeded: 'wait' }, 'a');
});
