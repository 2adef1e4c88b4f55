import type { Attributes, BatchObservableResult, ObservableGauge } from '@opentelemetry/api';
import type { Waybill } from '@waybill/core';
import type { Instruments } from './instruments.ts';
import { readStore, type StoreReading } from './store-reading.ts';

/** How long what was read counts: a scrape every second must not count rows every second. */
const READ_EVERY_MS = 10_000;
/** An export does not wait longer than this for a store that is slow; it has what was read before. */
const READ_WITHIN_MS = 5_000;
/** A worker beats every 20 seconds. */
const SEEN_WITHIN_MS = 60_000;

const STATES = ['available', 'parked', 'scheduled', 'retryable', 'pending', 'active'] as const;

/** Gauges of what is in the store now. Counted when somebody asks for the metrics, and at no other time. */
export function watch(waybill: Waybill, instruments: Instruments, tenant?: string): { stop(): void } {
  const depth = instruments.observable('queueDepth');
  const age = instruments.observable('oldestAge');
  const dead = instruments.observable('deadLetters');
  const workers = instruments.observable('workers');
  const paused = instruments.observable('pausedSinks');
  const gauges = [depth, age, dead, workers, paused];
  let last: StoreReading | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const refresh = (): Promise<void> => {
    if (reading || performance.now() - readAt < READ_EVERY_MS) return reading ?? Promise.resolve();
    readAt = performance.now();
    reading = readStore(waybill, tenant)
      .then((found) => {
        last = found;
      })
      // A store that is away shows in its own metrics. What was read before would be a lie by now.
      .catch(() => {
        last = undefined;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };

  const observe = async (result: BatchObservableResult): Promise<void> => {
    await within(READ_WITHIN_MS, refresh());
    if (last === undefined) return;
    const [depths, ages, deads, seen] = [sum(), new Sums(Math.max), sum(), sum()];
    for (const { tenant: whose, ...found } of last.tenants) {
      for (const stats of found.queues) {
        const labels = instruments.ofQueue(stats.name, whose);
        for (const state of STATES) depths.add({ ...labels, state }, stats[state]);
        ages.add(labels, stats.oldestAt === null ? 0 : Math.max(0, last.at - stats.oldestAt) / 1_000);
      }
      deads.add(instruments.ofTenant(whose), found.dead);
      const alive = found.workers.filter(({ lastSeenAt }) => lastSeenAt > last!.at - SEEN_WITHIN_MS);
      for (const state of ['running', 'quiet', 'terminate'] as const)
        seen.add({ state }, alive.filter(({ directive }) => directive === state).length);
    }
    depths.observe(result, depth);
    ages.observe(result, age);
    deads.observe(result, dead);
    seen.observe(result, workers);
    if (last.pausedSinks !== undefined) result.observe(paused, last.pausedSinks);
  };
  instruments.meter.addBatchObservableCallback(observe, gauges);
  return { stop: () => instruments.meter.removeBatchObservableCallback(observe, gauges) };
}

/** Sums what has the same labels: tenants that are not told apart, and names beyond the bound. */
class Sums {
  readonly #entries = new Map<string, { labels: Attributes; value: number }>();
  readonly #join: (a: number, b: number) => number;

  constructor(join: (a: number, b: number) => number) {
    this.#join = join;
  }

  add(labels: Attributes, value: number): void {
    const key = JSON.stringify(labels);
    const entry = this.#entries.get(key);
    if (entry) entry.value = this.#join(entry.value, value);
    else this.#entries.set(key, { labels, value });
  }

  observe(result: BatchObservableResult, gauge: ObservableGauge): void {
    for (const { labels, value } of this.#entries.values()) result.observe(gauge, value, labels);
  }
}

const sum = (): Sums => new Sums((a, b) => a + b);

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
