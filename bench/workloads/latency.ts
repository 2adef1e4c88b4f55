import { setTimeout as sleep } from 'node:timers/promises';
import { type Payload, payload } from '../queue.ts';
import { elapsed, percentile, type Run, scaled } from '../result.ts';
import { SYSTEMS, type SystemName } from '../systems/index.ts';
import { mustBe, untilIdle } from '../worked.ts';
import type { Circumstances } from './drain.ts';

const JOBS = 1_000;
const EVERY_MS = 10;
/** Workers that listen need a moment to begin, and code a thousand calls until V8 has compiled it; neither is asked for here. */
const WARM_UP = 1_000;
const FIRST_ORDER = 10_000;

/**
 * From the enqueue call to the moment at which a waiting worker's handler begins, at 100 jobs a second. Producer and
 * worker share a connection to an embedded file, as an application has it; to a server each has its own, so that no
 * job takes a short cut through the process.
 */
export const latency =
  (name: SystemName, connections: 'one' | 'two', { around }: Pick<Circumstances, 'around'> = {}): Run =>
  async (task) => {
    const jobs = scaled(JOBS, task.scale);
    const { open, settings } = await SYSTEMS[name]();
    const consumer = await open(task);
    const producer = connections === 'one' ? consumer : await open(task);
    // To make its tables leaves work behind for the server, as filling them does.
    const end = await around?.(task, jobs);
    const sent = new Map<number, number>();
    const waits: number[] = [];
    const all = Promise.withResolvers<void>();
    const worker = await consumer.work(({ order }: Payload) => {
      waits.push(performance.now() - sent.get(order)!);
      if (waits.length === WARM_UP + jobs) all.resolve();
    });
    const begun = performance.now();
    for (let n = 0; n < WARM_UP + jobs; n += 1) {
      const order = FIRST_ORDER + n;
      sent.set(order, performance.now());
      producer.enqueue(payload(order)).catch(all.reject);
      await sleep(Math.max(0, begun + (n + 1) * EVERY_MS - performance.now()));
    }
    await all.promise;
    const seconds = elapsed(begun);
    await untilIdle(consumer);
    await worker.stop();
    mustBe('handlers run', waits.length, WARM_UP + jobs);
    mustBe('jobs left', (await consumer.counts()).waiting, 0);
    if (producer !== consumer) await producer.close();
    await consumer.close();
    await end?.();
    const measured = waits.slice(WARM_UP).sort((a, b) => a - b);
    const [p50_ms, p95_ms, p99_ms] = [0.5, 0.95, 0.99].map((share) => percentile(measured, share));
    return {
      ...{ jobs: WARM_UP + jobs, seconds, p50_ms: p50_ms!, p95_ms: p95_ms!, p99_ms: p99_ms! },
      settings: `100 jobs/s, one waiting worker, ${connections} connection${connections === 'two' ? 's' : ''}; ${settings}`,
    };
  };
