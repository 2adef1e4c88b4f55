import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BACKOFF_STRATEGIES, DEFAULT_RETRY, isFinal, resolveRetry, retryDelayMs } from './retry-policy.ts';

const delays = (options: object, failures: number[]): number[] =>
  failures.map((n) => retryDelayMs(resolveRetry({ jitter: false, ...options }), n, 0));

describe('resolveRetry', () => {
  it('fills in what the producer left out', () => {
    expect(resolveRetry(undefined)).toEqual(DEFAULT_RETRY);
    expect(resolveRetry({ max_attempts: 7 })).toEqual({ ...DEFAULT_RETRY, max_attempts: 7 });
  });
});

describe('retryDelayMs', () => {
  it.each([
    ['exponential', {}, [1000, 2000, 4000, 8000]],
    ['exponential', { backoff_coefficient: 3 }, [1000, 3000, 9000, 27_000]],
    ['linear', {}, [1000, 2000, 3000, 4000]],
    ['constant', {}, [1000, 1000, 1000, 1000]],
    ['polynomial', { backoff_coefficient: 2 }, [1000, 4000, 9000, 16_000]],
  ] as const)('%s %j: %j', (backoff_strategy, more, expected) => {
    expect(delays({ backoff_strategy, ...more }, [1, 2, 3, 4])).toEqual(expected);
  });

  it('never waits longer than the cap, however often it failed', () => {
    expect(delays({ max_interval: 'PT5S' }, [3, 4, 5000])).toEqual([4000, 5000, 5000]);
  });

  it('counts the first failure as one', () => {
    expect(delays({}, [0, 1])).toEqual([1000, 1000]);
  });

  it('jitter gives half to one and a half of the capped delay, in whole milliseconds', () => {
    const anyPolicy = fc.record({
      backoff_strategy: fc.constantFrom(...BACKOFF_STRATEGIES),
      backoff_coefficient: fc.double({ min: 1, max: 10, noNaN: true }),
      initial_interval: fc.constantFrom('PT0.1S', 'PT1S', 'PT1M'),
      max_interval: fc.constantFrom('PT1S', 'PT5M'),
    });
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(anyPolicy, fc.integer({ min: 1, max: 50 }), chance, (policy, failures, drawn) => {
        const plain = retryDelayMs(resolveRetry({ ...policy, jitter: false }), failures, drawn);
        const shaken = retryDelayMs(resolveRetry({ ...policy, jitter: true }), failures, drawn);
        expect(Number.isInteger(shaken)).toBe(true);
        expect(shaken).toBeGreaterThanOrEqual(Math.floor(plain * 0.5) - 1);
        expect(shaken).toBeLessThanOrEqual(Math.ceil(plain * 1.5) + 1);
      }),
    );
  });

  it('C8: jitter never leads beyond max_interval', () => {
    const policy = resolveRetry({ initial_interval: 'PT8S', max_interval: 'PT10S', jitter: true });
    expect([1, 2].map((failures) => retryDelayMs(policy, failures, 0.999))).toEqual([10_000, 10_000]);
    expect(retryDelayMs(policy, 2, 0)).toBe(5_000);
  });

  it('C8: one interval alone bounds or lengthens the default of the other', () => {
    expect(delays({ initial_interval: 'PT10M' }, [1, 2])).toEqual([600_000, 600_000]);
    expect(delays({ max_interval: 'PT0.2S' }, [1, 2])).toEqual([200, 200]);
  });

  it('jitter reaches both ends', () => {
    const policy = resolveRetry({ jitter: true });
    expect(retryDelayMs(policy, 1, 0)).toBe(500);
    expect(retryDelayMs(policy, 1, 0.5)).toBe(1000);
    expect(retryDelayMs(policy, 1, 0.999_999)).toBe(1500);
  });
});

describe('isFinal', () => {
  const policy = resolveRetry({ non_retryable_errors: ['ValidationError', 'auth.*', 'E42'] });
  it.each([
    [{ code: 'boom' }, false],
    [{ code: 'boom', retryable: true }, false],
    [{ code: 'boom', retryable: false }, true],
    [{ code: 'boom', type: 'ValidationError' }, true],
    [{ code: 'boom', type: 'ValidationErrors' }, false],
    [{ code: 'E42' }, true],
    [{ code: 'auth.expired' }, true],
    [{ code: 'auth.' }, true],
    [{ code: 'auth' }, false],
    [{ code: 'authority' }, false],
  ])('%j: %s', (error, expected) => {
    expect(isFinal(policy, error)).toBe(expected);
  });
});
