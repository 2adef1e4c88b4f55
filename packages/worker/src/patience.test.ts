import { WaybillError } from '@waybill/core';
import { TestClock } from '@waybill/core/testing';
import { describe, expect, it } from 'vitest';
import { backoffMs, codeOf, mayRepeat, within } from './patience.ts';

/** The remote client's errors are no WaybillErrors, but have the same name and fields. */
const remote = (code: string) => Object.assign(new Error(code), { name: 'WaybillError', code });

describe('patience', () => {
  it('grows with every failure, up to a bound, and never to nothing', () => {
    for (let failures = 1; failures < 50; failures += 1) {
      const ms = backoffMs(failures);
      expect(ms).toBeGreaterThanOrEqual(50);
      expect(ms).toBeLessThanOrEqual(7_500);
    }
  });

  it('knows a refusal by its fields, whoever made it', () => {
    expect(codeOf(new WaybillError('lease_lost', 'x'))).toBe('lease_lost');
    expect(codeOf(remote('lease_lost'))).toBe('lease_lost');
    expect(codeOf(remote('made_up'))).toBe(undefined);
    expect(codeOf(Object.assign(new Error('x'), { code: 'lease_lost' }))).toBe(undefined);
    expect(codeOf('text')).toBe(undefined);
  });

  it('repeats what may succeed later, and only that', () => {
    const again = [new TypeError('fetch failed'), remote('unavailable'), remote('timeout'), remote('internal'), 'text'];
    expect(again.map(mayRepeat)).toEqual(again.map(() => true));
    const never = ['lease_lost', 'not_found', 'conflict', 'invalid_request', 'payload_too_large', 'forbidden'].map(
      remote,
    );
    expect(never.map(mayRepeat)).toEqual(never.map(() => false));
  });

  it('ends after its time, or when somebody gives up, and leaves no timer behind', async () => {
    const clock = new TestClock();
    const silent = new Promise<never>(() => {});
    expect(await within(1_000, clock, Promise.resolve('answer'))).toBe('answer');
    expect(clock.sleepers).toBe(0);
    const late = expect(within(1_000, clock, silent)).rejects.toThrow('No answer came within 1000 ms.');
    await clock.advance(1_000);
    await late;
    const giveUp = new AbortController();
    const given = expect(within(1_000, clock, silent, giveUp.signal)).rejects.toThrow('Nobody waits any longer.');
    giveUp.abort();
    await given;
    expect(clock.sleepers).toBe(0);
  });
});
