import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fields } from '../check.ts';
import { admitted, claimed, freeSlots, type LimitUse, nextAdmission, UNUSED } from './limit.ts';
import { checkLimit } from './limit-options.ts';

const ruleOf = (rate_limit: Record<string, unknown>, queue = 'mail') =>
  checkLimit(new Fields({ rate_limit: rate_limit as never }, 'options'), queue)!;

describe('guarantee 7: a rate', () => {
  // fault: the wall clock is set back by an hour
  test('A22: lets starts in again soon after the clock was set back', () => {
    const rule = { concurrency: null, rate: { limit: 2, periodMs: 1_000 } };
    const now = 10_000_000;
    const use = claimed(rule, admitted(UNUSED, 2), 2, now);
    expect(freeSlots(rule, use, now)).toBe(0);
    expect(freeSlots(rule, use, now - 500)).toBe(0);
    expect(freeSlots(rule, use, now - 3_600_000)).toBe(2);
    expect(claimed(rule, admitted(use, 1), 1, now - 3_600_000).window).toHaveLength(1);
  });

  // fault: claims come at random times, in random numbers
  test('never lets more starts into any stretch of its period than it allows, and never gets stuck', () => {
    const steps = fc.array(
      fc.record({ passed: fc.integer({ min: 0, max: 700 }), claims: fc.integer({ min: 0, max: 4 }) }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), (walk, limit) => {
        const rule = { concurrency: null, rate: { limit, periodMs: 1_000 } };
        let now = 1_000_000;
        let use: LimitUse = UNUSED;
        const starts: number[] = [];
        for (const { passed, claims } of walk) {
          now += passed;
          use = admitted(use, Math.min(10, freeSlots(rule, use, now)));
          const taken = Math.min(claims, use.unclaimed);
          use = claimed(rule, use, taken, now);
          for (let start = 0; start < taken; start += 1) starts.push(now);
          const inPeriod = starts.filter((start) => start > now - 1_000).length;
          expect(inPeriod).toBeLessThanOrEqual(limit);
        }
        const later = nextAdmission(rule, use, now);
        if (freeSlots(rule, use, now) === 0 && use.unclaimed < limit) {
          expect(later).not.toBeNull();
          expect(freeSlots(rule, use, later!)).toBeGreaterThan(0);
        }
      }),
    );
  });

  // fault: none, the rule itself
  test('is full with what was admitted but not yet claimed', () => {
    const rule = { concurrency: null, rate: { limit: 2, periodMs: 1_000 } };
    const use = admitted(UNUSED, 2);
    expect(freeSlots(rule, use, 0)).toBe(0);
    expect(freeSlots(rule, use, 60_000)).toBe(0);
  });
});

test('a concurrency counts holders until they let go', () => {
  const rule = { concurrency: 3, rate: null };
  const use = claimed(rule, admitted(UNUSED, 3), 2, 0);
  expect(freeSlots(rule, use, 0)).toBe(0);
  expect(freeSlots(rule, { ...use, holders: 1 }, 0)).toBe(2);
  expect(freeSlots({ ...rule, concurrency: 1 }, use, 0)).toBe(0);
});

describe('options.rate_limit', () => {
  test.each<[Record<string, unknown>, object]>([
    [{ max_per_second: 1 }, { key: 'queue:mail', rule: { concurrency: null, rate: { limit: 1, periodMs: 1_000 } } }],
    [
      { key: 'api', rate: { limit: 100, period: 'PT1M' } },
      { key: 'api', rule: { concurrency: null, rate: { limit: 100, periodMs: 60_000 } } },
    ],
    [
      { key: 'api', rate: 5, period: 'minute' },
      { key: 'api', rule: { concurrency: null, rate: { limit: 5, periodMs: 60_000 } } },
    ],
    [
      { key: 'tenant:acme', concurrency: 5 },
      { key: 'tenant:acme', rule: { concurrency: 5, rate: null } },
    ],
    [
      { key: 'api', throttle: { limit: 10, period: 'PT1S' } },
      { key: 'api', rule: { concurrency: null, rate: { limit: 1, periodMs: 100 } } },
    ],
  ])('%j', (options, expected) => {
    expect(ruleOf(options)).toEqual(expected);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['nothing to limit', {}, 'options.rate_limit.concurrency'],
    ['a throttle that is a number', { key: 'api', throttle: 5 }, 'options.rate_limit.throttle'],
    ['two shorthands', { max_per_second: 1, max_per_minute: 5 }, 'options.rate_limit.rate'],
    ['a concurrency of zero', { key: 'api', concurrency: 0 }, 'options.rate_limit.concurrency'],
    ['a rate of zero', { key: 'api', rate: { limit: 0, period: 'PT1S' } }, 'options.rate_limit.rate.limit'],
    ['a rate without period', { key: 'api', rate: { limit: 1 } }, 'options.rate_limit.rate.period'],
    ['a hundred years', { key: 'api', rate: { limit: 1, period: 'P36500D' } }, 'options.rate_limit.rate.period'],
    ['two rates', { max_per_second: 1, rate: { limit: 1, period: 'PT1S' } }, 'options.rate_limit.rate'],
    ['a key of a kilobyte', { key: 'k'.repeat(1_025), concurrency: 1 }, 'options.rate_limit.key'],
    ['a key with spaces', { key: 'my api', concurrency: 1 }, 'options.rate_limit.key'],
  ])('refuses %s', (_, options, field) => {
    expect(() => ruleOf(options)).toThrow(
      expect.objectContaining({ code: 'invalid_request', details: expect.objectContaining({ field }) }),
    );
  });

  test('refuses to drop jobs', () => {
    expect(() => ruleOf({ key: 'api', concurrency: 1, on_limit: 'drop' })).toThrow(
      expect.objectContaining({ code: 'unsupported' }),
    );
  });
});

test.each<[string, Record<string, unknown>, string]>([
  ['C3: a misspelt field', { concurrency: 1, max_per_secnd: 5 }, 'options.rate_limit.max_per_secnd'],
  ['C3: a misspelt field of a rate', { rate: { limit: 1, perid: 'PT1S' } }, 'options.rate_limit.rate.perid'],
  ['C3: two periods', { rate: { limit: 1, period: 'PT1S', period_ms: 5_000 } }, 'options.rate_limit.rate.period_ms'],
])('%s of a limit is refused', (_, limit, field) => {
  expect(() => ruleOf(limit)).toThrow(expect.objectContaining({ details: expect.objectContaining({ field }) }));
});

test('C3: the period of a rate may be a number of milliseconds', () => {
  expect(ruleOf({ rate: { limit: 2, period_ms: 1_500 } }).rule).toMatchObject({ rate: { limit: 2, periodMs: 1_500 } });
});
