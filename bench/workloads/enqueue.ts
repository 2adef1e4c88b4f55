import { PER_CALL, payload } from '../queue.ts';
import { elapsed, type Run, scaled } from '../result.ts';
import { SYSTEMS, type SystemName } from '../systems/index.ts';
import { mustBe } from '../worked.ts';
import { inFlight } from './in-flight.ts';

const JOBS = 100_000;
const IN_FLIGHT = 64;

/** Fewer jobs for those that would need minutes: a rate is a rate. */
export interface Size {
  jobs?: number;
}

export const enqueueOne =
  (name: SystemName, { jobs: documented = JOBS }: Size = {}): Run =>
  async (task) => {
    const jobs = scaled(documented, task.scale);
    const { open, settings } = await SYSTEMS[name]();
    const queue = await open(task);
    let left = jobs;
    const begun = performance.now();
    await inFlight(IN_FLIGHT, async () => {
      if (left-- <= 0) return false;
      await queue.enqueue(payload());
      return true;
    });
    const seconds = elapsed(begun);
    mustBe('jobs enqueued', (await queue.counts()).waiting, jobs);
    await queue.close();
    return { jobs, seconds, settings: `${IN_FLIGHT} in flight; ${settings}` };
  };

export const enqueueBulk =
  (name: SystemName, { jobs: documented = JOBS }: Size = {}): Run =>
  async (task) => {
    const calls = Math.ceil(scaled(documented, task.scale) / PER_CALL);
    const jobs = calls * PER_CALL;
    const { open, settings } = await SYSTEMS[name]();
    const queue = await open(task);
    const batch = Array(PER_CALL).fill(payload());
    const begun = performance.now();
    for (let call = 0; call < calls; call += 1) await queue.enqueueMany(batch);
    const seconds = elapsed(begun);
    mustBe('jobs enqueued', (await queue.counts()).waiting, jobs);
    await queue.close();
    return { jobs, seconds, settings: `${PER_CALL} per call, one call at a time; ${settings}` };
  };
