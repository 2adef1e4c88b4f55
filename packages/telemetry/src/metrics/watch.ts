import type { Attributes, BatchObservableResult, ObservableGauge } from '@opentelemetry/api';
import { type Clock, systemClock, type Waybill } from '@waybill/core';
import type { Instruments } from './instruments.ts';
import { LatestReading } from './latest-reading.ts';
import { StoreReader } from './store-reading.ts';

/** A worker beats every 20 seconds. */
const SEEN_WITHIN_MS = 60_000;

const STATES = ['available', 'parked', 'scheduled', 'retryable', 'pending', 'active'] as const;

interface Watch {
  /** Undefined: all of them. */
  tenant?: string | undefined;
  /** @defaultValue the clock of this machine */
  clock?: Clock;
}

/** Gauges of what is in the store now. Counted when somebody asks for the metrics, and at no other time. */
export function watch(
  waybill: Waybill,
  instruments: Instruments,
  { tenant, clock = systemClock }: Watch = {},
): { stop(): void } {
  const depth = instruments.observable('queueDepth');
  const age = instruments.observable('oldestAge');
  const dead = instruments.observable('deadLetters');
  const workers = instruments.observable('workers');
  const paused = instruments.observable('pausedSinks');
  const readingAge = instruments.observable('readingAge');
  const gauges = [depth, age, dead, workers, paused, readingAge];
  const sums = { depths: sum(), ages: new Sums(Math.max), deads: sum(), seen: sum() };
  const reading = new LatestReading(clock, () => {
    const reader = new StoreReader(waybill, tenant);
    return () => reader.read(() => clock.now());
  });

  const observe = async (result: BatchObservableResult): Promise<void> => {
    await reading.refresh();
    result.observe(readingAge, reading.ageMs / 1_000);
    const { last } = reading;
    if (last === undefined) return;
    const { depths, ages, deads, seen } = sums;
    for (const one of Object.values(sums)) one.clear();
    for (const { tenant: whose, ...found } of last.tenants) {
      for (const stats of found.queues) {
        const labels = instruments.ofQueue(stats.name, whose);
        for (const state of STATES) depths.add({ ...labels, state }, stats[state]);
        ages.add(labels, stats.oldestAt === null ? 0 : Math.max(0, last.at - stats.oldestAt) / 1_000);
      }
      deads.add(instruments.ofTenant(whose), found.dead);
      const alive = found.workers.filter(({ lastSeenAt }) => lastSeenAt > last.at - SEEN_WITHIN_MS);
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

/**
 * Sums what has the same labels: tenants that are not told apart, and names beyond the bound. Labels that were told once are told
 * again with 0: the SDK repeats the last value of those that are left out, for ever.
 */
class Sums {
  readonly #entries = new Map<string, { labels: Attributes; value: number }>();
  readonly #join: (a: number, b: number) => number;

  constructor(join: (a: number, b: number) => number) {
    this.#join = join;
  }

  clear(): void {
    for (const entry of this.#entries.values()) entry.value = 0;
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
