import { onTestFinished } from 'vitest';
import { type Engine, engine } from '../engine.ts';
import { silentLogger } from '../logger.ts';
import type { EngineOptions } from '../options.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import type { Store } from '../store/store.ts';
import type { Lease } from '../waybill.ts';
import { type Fault, type FaultyStore, faultyStore } from './faulty-store.ts';
import { TestClock } from './test-clock.ts';

export interface TestEngine {
  waybill: Engine;
  store: FaultyStore;
  clock: TestClock;
  /** Enqueues a plain job and answers its id. */
  enqueue(options?: Record<string, unknown>): Promise<string>;
  /** Claims one job of the queue `default`; fails when there is none. */
  claimOne(call?: { workerId?: string; leaseMs?: number }): Promise<Lease>;
}

/** A real engine on the model store and a clock that the test owns. Closed when the test ends. */
export function testEngine(
  options: Partial<EngineOptions> & { faults?: readonly Fault[]; on?: Store; clock?: TestClock } = {},
): TestEngine {
  const { faults = [], clock = new TestClock(), on = memoryStore({ clock }), ...rest } = options;
  const store = faultyStore(on, faults);
  const waybill = engine({ store, logger: silentLogger, ...rest });
  onTestFinished(() => waybill.close());
  return {
    waybill,
    store,
    clock,
    enqueue: async (jobOptions = {}) => {
      const { job } = await waybill.jobs.enqueue({ type: 'test.job', args: [], options: jobOptions });
      return job.id;
    },
    claimOne: async (call = {}) => {
      const [lease] = await waybill.jobs.claim({ queues: ['default'], ...call });
      if (lease === undefined) throw new Error('There was nothing to claim.');
      return lease;
    },
  };
}
