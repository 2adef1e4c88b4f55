import { describe, expect, it } from 'vitest';
import { CAST } from '../actors/cast.ts';
import { LINK_FAULTS, PROCESS_FAULTS, STORE_FAULTS } from './fault.ts';
import { type PlanOptions, planOf, planTable } from './plan.ts';

const options = (more: Partial<PlanOptions> = {}): PlanOptions => ({
  seed: '4711',
  durationMs: 120_000,
  cast: CAST,
  hasNetwork: true,
  pace: { leaseMs: 2_500, faultEveryMs: [300, 2_000] },
  storeFaults: ['restart-database', 'crash-database'],
  ...more,
});

describe('the plan', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(planOf(options())).toEqual(planOf(options()));
    expect(planOf(options({ seed: '4712' }))).not.toEqual(planOf(options()));
    // A change of this text means that seeds from before tell of other runs.
    expect(planTable(planOf(options({ durationMs: 8_000 })))).toMatchInlineSnapshot(`
      "    1.5 s  kill              server-2    for 0.4 s
          2.9 s  pause             server-1    for 0.6 s"
    `);
  });

  it('has every kind of fault in two minutes', () => {
    const plan = planOf(options({ storeFaults: STORE_FAULTS }));
    expect(new Set(plan.map(({ kind }) => kind))).toEqual(
      new Set([...PROCESS_FAULTS, ...LINK_FAULTS, ...STORE_FAULTS]),
    );
    expect(new Set(plan.map(({ target }) => target))).toEqual(new Set([...CAST.map(({ name }) => name), 'store']));
  });

  it('begins after the load and ends before the run', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const plan = planOf(options({ seed: String(seed), durationMs: 20_000 }));
      expect(plan.length).toBeGreaterThan(5);
      expect(Math.min(...plan.map(({ atMs }) => atMs))).toBeGreaterThanOrEqual(1_500);
      expect(Math.max(...plan.map(({ atMs, lastsMs }) => atMs + lastsMs))).toBeLessThanOrEqual(17_000);
    }
  });

  it('gives no target a second fault while it has one', () => {
    const plan = planOf(options({ durationMs: 600_000 }));
    for (const own of Map.groupBy(plan, ({ target }) => target).values()) {
      for (const [index, { atMs }] of own.entries()) {
        const before = own[index - 1];
        if (before) expect(atMs).toBeGreaterThanOrEqual(before.atMs + before.lastsMs);
      }
    }
  });

  it('cuts no link to a store that has no network, and does to a store only what it takes', () => {
    const plan = planOf(options({ hasNetwork: false, storeFaults: ['lock-file'] }));
    const cut = plan.filter(({ kind }) => LINK_FAULTS.some((one) => one === kind));
    expect(new Set(cut.map(({ target }) => target))).toEqual(
      new Set(['worker-3', 'worker-4', 'producer-2', 'producer-3']),
    );
    expect(new Set(plan.filter(({ target }) => target === 'store').map(({ kind }) => kind))).toEqual(
      new Set(['lock-file']),
    );
  });
});
