import { describe, expect, it } from 'vitest';
import { jobIdAt } from '../testing/factories.ts';
import { TEST_EPOCH } from '../testing/test-clock.ts';
import { chanceOf } from './jitter.ts';

describe('chanceOf', () => {
  it('is the same for the same run, in [0, 1)', () => {
    for (let n = 0; n < 1000; n++) {
      const chance = chanceOf(jobIdAt(TEST_EPOCH, n), 1);
      expect(chance).toBe(chanceOf(jobIdAt(TEST_EPOCH, n), 1));
      expect(chance).toBeGreaterThanOrEqual(0);
      expect(chance).toBeLessThan(1);
    }
  });

  it.each([
    ['ids', (n: number) => chanceOf(jobIdAt(TEST_EPOCH, n), 1)],
    ['runs', (n: number) => chanceOf(jobIdAt(TEST_EPOCH, 1), n)],
  ])('spreads neighbouring %s evenly', (_, chance) => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let n = 0; n < 10_000; n++) tenths[Math.floor(chance(n) * 10)]! += 1;
    for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(200);
  });
});
