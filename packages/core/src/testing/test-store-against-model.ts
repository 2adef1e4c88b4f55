import fc from 'fast-check';
import { describe, it } from 'vitest';
import { memoryStore } from '../store/memory/memory-store.ts';
import { checkHistory } from './model/invariants.ts';
import { compareJournals } from './model/journal-steps.ts';
import { runStep } from './model/run-step.ts';
import { anySteps, PERIOD_MS, type Step, TENANTS } from './model/steps.ts';
import { World } from './model/world.ts';
import type { StoreFactory } from './store/bench.ts';

export interface ModelOptions {
  /** Random histories to try; each needs a fresh store. @defaultValue 100 */
  runs?: number;
  /** Steps of a history at most. @defaultValue 100 */
  steps?: number;
  /** Stops trying, and shrinking what failed, after this long. @defaultValue 120_000 */
  timeLimitMs?: number;
  /** From a failure's message, to see it again. @defaultValue chosen at random */
  seed?: number;
  /** From a failure's message: where in its shrinking the smallest history was found. */
  path?: string;
}

/** Two of the limits are there from the start; jobs that came before their limit are rare in life too. */
const FIRST_STEPS = TENANTS.flatMap((tenant): Step[] => [
  { do: 'limit', tenant, key: 'x', rule: { concurrency: 2, rate: null } },
  { do: 'limit', tenant, key: 'y', rule: { concurrency: null, rate: { limit: 2, periodMs: PERIOD_MS } } },
]);

/** A store and the model live through the same random history; whatever they answer must be equal. */
export function testStoreAgainstModel(name: string, factory: StoreFactory, options: ModelOptions = {}): void {
  const { runs = 100, steps = 100, timeLimitMs = 120_000, seed, path } = options;
  const replay = { ...(seed === undefined ? {} : { seed }), ...(path === undefined ? {} : { path }) };

  describe(`${name} does what the model does`, () => {
    // fault: random steps of several callers, repeated and stale ones among them
    it(`guarantees 2, 4, 7, 8: in ${runs} random histories`, { timeout: timeLimitMs + 60_000 }, async () => {
      const history = fc.asyncProperty(anySteps(steps), async (steps) => {
        const { store, clock, close } = await factory();
        try {
          const world = new World(store, memoryStore({ clock }), clock);
          for (const step of [...FIRST_STEPS, ...steps]) {
            await runStep(world, step);
            await world.followEvents();
            await world.checkLimits();
            await world.checkUnique();
          }
          await compareJournals(world);
          checkHistory(world, await world.compareAll());
        } finally {
          await close();
        }
      });
      await fc.assert(history, { numRuns: runs, interruptAfterTimeLimit: timeLimitMs, ...replay });
    });
  });
}
