import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchQueue, type Payload, payload } from '../queue.ts';
import { elapsed, type Latency, percentile, type Run, scaled, type Task } from '../result.ts';
import { SYSTEMS, type SystemName } from '../systems/index.ts';
import { mustBe, untilIdle } from '../worked.ts';
import type { Circumstances } from './drain.ts';

const JOBS = 1_000;
const EVERY_MS = 10;
/** Workers that listen need a moment to begin, and code a thousand calls until V8 has compiled it; neither is asked for. */
const WARM_UP = 1_000;
const FIRST_ORDER = 10_000;

export type Connections = 'one' | 'two';
type Around = Pick<Circumstances, 'around'>;

/**
 * From the enqueue call to the moment at which a waiting worker's handler begins, at 100 jobs a second. Producer and
 * worker are one application and share its connections, or each has its own, so that no job takes a short cut through the
 * process. Several systems take turns, job by job, each in a database of its own: whatever slows the machine down for a
 * while slows all of them.
 */
export const latency =
  (names: readonly SystemName[], connections: Connections, { around }: Around = {}): Run =>
  async (task) => {
    const jobs = scaled(JOBS, task.scale);
    const watched: Watched[] = [];
    const ends: (() => Promise<unknown>)[] = [];
    for (const name of names) {
      const place = watched.length === 0 ? task : { ...task, store: await task.another!() };
      watched.push(await Watched.open(name, connections, place, WARM_UP + jobs));
      // To make its tables leaves work behind for the server, as filling them does.
      if (around) ends.push(await around(place, jobs));
    }
    for (const one of watched) await one.work();
    const begun = performance.now();
    let turns = 0;
    for (let n = 0; n < WARM_UP + jobs; n += 1) {
      for (const one of watched) {
        one.enqueue(FIRST_ORDER + n);
        turns += 1;
        await sleep(Math.max(0, begun + turns * EVERY_MS - performance.now()));
      }
    }
    await Promise.all(watched.map((one) => one.all.promise));
    const seconds = elapsed(begun);
    for (const one of watched) await one.close();
    for (const end of ends) await end();
    const [own, ...beside] = watched.map(({ name, waits }) => ({ system: name, ...latencyOf(waits.slice(WARM_UP)) }));
    const { p50_ms, p95_ms, p99_ms } = own!;
    return {
      ...{ jobs: WARM_UP + jobs, seconds, p50_ms, p95_ms, p99_ms },
      ...(beside.length > 0 && { beside }),
      settings: `100 jobs/s, one waiting worker, ${connections} connection${connections === 'two' ? 's' : ''}; ${watched[0]!.settings}`,
    };
  };

function latencyOf(waits: readonly number[]): Latency {
  const sorted = waits.toSorted((a, b) => a - b);
  return { p50_ms: percentile(sorted, 0.5), p95_ms: percentile(sorted, 0.95), p99_ms: percentile(sorted, 0.99) };
}

/** A system with a producer and a worker, and how long each job has waited. */
class Watched {
  readonly name: SystemName;
  readonly settings: string;
  readonly waits: number[] = [];
  readonly all = Promise.withResolvers<void>();
  readonly #consumer: BenchQueue;
  readonly #producer: BenchQueue;
  readonly #expected: number;
  readonly #sent = new Map<number, number>();
  #worker: { stop(): Promise<unknown> } | undefined;

  constructor(name: SystemName, settings: string, consumer: BenchQueue, producer: BenchQueue, expected: number) {
    this.name = name;
    this.settings = settings;
    this.#consumer = consumer;
    this.#producer = producer;
    this.#expected = expected;
  }

  static async open(name: SystemName, connections: Connections, task: Task, expected: number): Promise<Watched> {
    const { open, settings } = await SYSTEMS[name]();
    const consumer = await open(task);
    return new Watched(name, settings, consumer, connections === 'one' ? consumer : await open(task), expected);
  }

  async work(): Promise<void> {
    this.#worker = await this.#consumer.work(({ order }: Payload) => {
      this.waits.push(performance.now() - this.#sent.get(order)!);
      if (this.waits.length === this.#expected) this.all.resolve();
    });
  }

  enqueue(order: number): void {
    this.#sent.set(order, performance.now());
    this.#producer.enqueue(payload(order)).catch(this.all.reject);
  }

  async close(): Promise<void> {
    await untilIdle(this.#consumer);
    await this.#worker?.stop();
    mustBe('handlers run', this.waits.length, this.#expected);
    mustBe('jobs left', (await this.#consumer.counts()).waiting, 0);
    if (this.#producer !== this.#consumer) await this.#producer.close();
    await this.#consumer.close();
  }
}
