import { engine, type Logger, type Store } from '@waybill/core';
import type { TestClock } from '@waybill/core/testing';
import { busyHour, DAY_MS, HOUR_MS, pass, SOAK_OPTIONS, setUp, windDown } from './life.ts';

/** Days until as much goes as comes, and two weeks for which that must stay so: the second shows what only age brings. */
const WARM_UP_DAYS = 4;
const WEEK_DAYS = 7;
/**
 * Days are measured at six o'clock. PostgreSQL drops a day of jobs in the first hours of another, and an hour later when
 * a day that is being added is in its way.
 */
const MEASURED_AT_MS = 6 * HOUR_MS;
/** Longer than everything is kept: a day of retention, another of which PostgreSQL keeps days, and hours of margins. */
const QUIET_DAYS = 4;

export type Levels = Record<string, number>;

export interface SoakReport {
  /** Before anything has come, but what people have set up. */
  start: Levels;
  /** When as much goes as comes. */
  level: Levels;
  /** After each day of two weeks of the same. */
  weeks: readonly [Levels[], Levels[]];
  /** Some days after the last that came. */
  end: Levels;
  /** Warnings of the engine and the store. */
  warnings: string[];
}

export interface Soaked {
  store: Store;
  clock: TestClock;
  /** Rows of each table, and other sizes. */
  measure(): Promise<Levels>;
}

/** Lives through weeks of jobs on virtual time, and measures before, after each day and at the end. Closes the store. */
export async function soak({ store, clock, measure }: Soaked): Promise<SoakReport> {
  const warnings: string[] = [];
  const warn = (fields: unknown, text?: string) => void warnings.push(`${text} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug: () => {}, info: () => {}, warn, error: warn };
  const waybill = engine({ store, logger, ...SOAK_OPTIONS });
  try {
    await setUp(waybill);
    await pass(clock, MEASURED_AT_MS);
    const start = await measure();
    let hour = 1;
    const live = async (days: number) => {
      const measured: Levels[] = [];
      for (let day = 0; day < days; day++) {
        for (const until = hour + 24; hour < until; hour++) await busyHour(waybill, clock, hour);
        measured.push(await measure());
      }
      return measured;
    };
    const level = (await live(WARM_UP_DAYS)).at(-1)!;
    const weeks = [await live(WEEK_DAYS), await live(WEEK_DAYS)] as const;
    await windDown(waybill, clock, hour);
    await pass(clock, QUIET_DAYS * DAY_MS);
    return { start, level, weeks, end: await measure(), warnings };
  } finally {
    await waybill.close();
  }
}
