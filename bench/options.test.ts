import { expect, test } from 'vitest';
import { optionsOf, type Stores } from './options.ts';
import type { BenchStore } from './stores/store.ts';

const store = (workloads: BenchStore['workloads']): BenchStore => ({
  workloads,
  host: () => Promise.reject(new Error('not started here')),
  place: () => Promise.reject(new Error('not started here')),
});
const run = () => Promise.reject(new Error('not run here'));
const stores: Stores = {
  sqlite: store({ drain: { systems: { waybill: run, raw: run } }, http: { systems: { bare: run } } }),
  postgres: store({ drain: { systems: { waybill: run, 'pg-boss': run } } }),
};

test('without options everything is run on SQLite', () => {
  const options = { store: 'sqlite', workloads: ['drain', 'http'], rounds: 5, scale: 1, json: false };
  expect(optionsOf([], stores)).toMatchObject({ ...options, systems: undefined, postgresUrl: undefined });
});

test('systems are listed with commas or by repeating the option', () => {
  const given = ['--systems', 'waybill,raw', '--systems', 'bare'];
  expect(optionsOf(given, stores)).toMatchObject({ systems: ['waybill', 'raw', 'bare'] });
});

test.each([
  [['--store', 'oracle'], "no store 'oracle'"],
  [['--workload', 'nap'], "no workload 'nap' for sqlite"],
  [['--systems', 'pg-boss'], "no system 'pg-boss'"],
  [['--workload', 'drain', '--systems', 'bare'], "no system 'bare'"],
  [['--rounds', '0'], '--rounds'],
  [['--rounds', 'many'], '--rounds'],
  [['--scale', '0'], '--scale'],
  [['--scale', 'big'], '--scale'],
])('%j cannot be meant', (given, why) => {
  expect(() => optionsOf(given, stores)).toThrow(why);
});
