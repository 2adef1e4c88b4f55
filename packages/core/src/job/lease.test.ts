import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WaybillError } from '../errors.ts';
import { aJobIn } from '../testing/factories.ts';
import { JOB_STATES } from './job.ts';
import { formatToken, holdsLease, parseToken, tokenOf } from './lease.ts';

describe('lease tokens', () => {
  it('come back as they went, receipt included', () => {
    const token = fc.record({
      run: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      claimId: fc.stringMatching(/^[0-9A-Za-z_-]{1,64}$/),
      receipt: fc.string({ minLength: 1, unit: 'binary' }),
    });
    fc.assert(
      fc.property(token, fc.boolean(), ({ run, claimId, receipt }, bare) => {
        const made = bare ? { run, claimId } : { run, claimId, receipt };
        expect(parseToken(formatToken(made))).toEqual(made);
      }),
    );
  });

  it.each(['', 'x', '0.c', '1', '1.', '-1.c', '01.c', '1.5.', '1.c.', '1. c', '1.é', ` 1.c`, '9999999999999999.c'])(
    'a text that is none is a lost lease: %j',
    (text) => {
      expect(() => parseToken(text)).toThrow(WaybillError);
      expect(() => parseToken(text)).toThrow(expect.objectContaining({ code: 'lease_lost' }));
    },
  );

  it.each(JOB_STATES)('a job that is %s has one only while it runs', (state) => {
    const job = aJobIn(state);
    expect(tokenOf(job)).toBe(state === 'active' ? '1.claim-1' : undefined);
    expect(holdsLease(job, { run: 1, claimId: 'claim-1' })).toBe(state === 'active');
  });

  // fault: a forged token: another claim id or another run
  it('guarantee 3: another run or another claim does not hold the lease', () => {
    const job = aJobIn('active');
    expect(holdsLease(job, { run: 2, claimId: 'claim-1' })).toBe(false);
    expect(holdsLease(job, { run: 1, claimId: 'claim-2' })).toBe(false);
  });
});
