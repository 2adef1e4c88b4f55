import { engine, type Logger, type Store } from '@waybill/core';
import type { TestClock } from '@waybill/core/testing';
import { busyHour, DAY_MS, pass, SOAK_OPTIONS, setUp, windDown } from './life.ts';

/** Days until as much goes as comes, and days for which that must stay so. */
const WARM_UP_DAYS = 4;
const WEEK_DAYS = 7;
/** Longer than everything is kept: a day of retention, another of which PostgreSQL keeps days, and hours of margins. */
const QUIET_DAYS = 4;

export type Levels = Record<string, number>;

export interface SoakReport {
  /** Before anything has come, but what people have set up. */
  start: Levels;
  /** When as much goes as comes. */
  level: Levels;
  /** A week of the same later. */
  week: Levels;
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

/** Lives through a week of jobs on virtual time, and measures before, in it and after it. Closes the store. */
export async function soak({ store, clock, measure }: Soaked): Promise<SoakReport> {
  const warnings: string[] = [];
  const warn = (fields: unknown, text?: string) => void warnings.push(`${text} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug: () => {}, info: () => {}, warn, error: warn };
  const waybill = engine({ store, logger, ...SOAK_OPTIONS });
  try {
    await setUp(waybill);
    await pass(clock, 2 * SOAK_OPTIONS.sweepEveryMs);
    const start = await measure();
    let hour = 1;
    const live = async (days: number) => {
      for (const until = hour + days * 24; hour < until; hour++) await busyHour(waybill, clock, hour);
    };
    await live(WARM_UP_DAYS);
    const level = await measure();
    await live(WEEK_DAYS);
    const week = await measure();
    await windDown(waybill, clock, hour);
    await pass(clock, QUIET_DAYS * DAY_MS);
    return { start, level, week, end: await measure(), warnings };
  } finally {
    await waybill.close();
  }
}
