import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aJobIn } from '../testing/factories.ts';
import { TEST_EPOCH } from '../testing/test-clock.ts';
import { JOB_STATES } from './job.ts';
import { PRIORITY_MAX, PRIORITY_MIN, rankFor, rankOf, seqAt, sequence } from './rank.ts';

const LATEST_SEQ = Date.UTC(2250, 0, 1) * 1000 + 999;
const priority = fc.integer({ min: PRIORITY_MIN, max: PRIORITY_MAX });
const seq = fc.oneof(
  fc.nat(),
  fc.maxSafeInteger().map((n) => Math.abs(n) % LATEST_SEQ),
);

describe('rankOf', () => {
  it('orders as text, as bytes and as numbers by priority, then by sequence', () => {
    fc.assert(
      fc.property(priority, seq, priority, seq, (p1, s1, p2, s2) => {
        const [a, b] = [rankOf(p1, s1), rankOf(p2, s2)];
        const expected = Math.sign(p2 - p1 || s1 - s2);
        expect(a < b ? -1 : a > b ? 1 : 0).toBe(expected);
        expect(Buffer.compare(Buffer.from(a), Buffer.from(b))).toBe(expected);
        expect(BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0).toBe(expected);
      }),
    );
  });

  it('is nineteen digits that fit a signed 64-bit integer', () => {
    fc.assert(
      fc.property(priority, seq, (p, s) => {
        expect(rankOf(p, s)).toMatch(/^\d{19}$/);
        expect(BigInt(rankOf(p, s))).toBeLessThan(2n ** 63n);
      }),
    );
    expect(rankOf(PRIORITY_MIN, LATEST_SEQ)).toHaveLength(19);
  });
});

describe('rankFor', () => {
  it.each(JOB_STATES)('%s', (state) => {
    const job = aJobIn(state);
    expect(rankFor(job)).toBe(state === 'available' ? rankOf(job.priority, job.seq) : null);
  });

  it('a job with a limit has a rank only while it holds a slot', () => {
    expect(rankFor(aJobIn('available', { limitKey: 'k' }))).toBeNull();
    expect(rankFor(aJobIn('available', { limitKey: 'k', holdsSlot: true }))).not.toBeNull();
  });
});

describe('sequence', () => {
  it('rises strictly, and stays close to time', () => {
    const next = sequence();
    let last = 0;
    for (let n = 0; n < 3000; n++) {
      const value = next(TEST_EPOCH);
      expect(value).toBeGreaterThan(last);
      last = value;
    }
    expect(next(TEST_EPOCH + 1000)).toBe((TEST_EPOCH + 1000) * 1000);
    expect(next(TEST_EPOCH)).toBe((TEST_EPOCH + 1000) * 1000 + 1);
  });

  it('seqAt orders by due time, then by place, and is the same on every server', () => {
    expect(seqAt(TEST_EPOCH, 5)).toBeLessThan(seqAt(TEST_EPOCH, 6));
    expect(seqAt(TEST_EPOCH, 999)).toBeLessThan(seqAt(TEST_EPOCH + 1, 0));
    expect(seqAt(TEST_EPOCH + 1, seqAt(TEST_EPOCH, 7))).toBe((TEST_EPOCH + 1) * 1000 + 7);
    expect(Number.isSafeInteger(seqAt(Date.UTC(2250, 0, 1), 999))).toBe(true);
  });
});
