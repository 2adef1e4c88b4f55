import { expect, test } from 'vitest';
import { optionsOf, type Stores } from './options.ts';
import type { BenchStore } from './stores/store.ts';

const store = (workloads: BenchStore['workloads']): BenchStore => ({
  workloads,
  host: () => Promise.reject(new Error('not started here')),
  place: () => Promise.reject(new Error('not started here')),
});
const run = () => Promise.reject(new Error('not run here'));
const timed = { 'enqueue-one': { systems: { waybill: run } }, latency: { systems: { waybill: run } } };
const stores: Stores = {
  dynamodb: { ...store({ costs: { systems: { poll: run } } }), rounds: 1 },
  redis: store({ http: { systems: { bare: run } }, drain: { systems: { waybill: run } }, ...timed }),
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

test('against a revision the workloads that tell most run for nine rounds', () => {
  const chosen = { against: 'main', workloads: ['drain', 'enqueue-one', 'latency'], rounds: 9, atLeast: undefined };
  expect(optionsOf(['--store', 'redis', '--against', 'main'], stores)).toMatchObject(chosen);
  const given = ['--store', 'redis', '--against', 'HEAD~5', '--rounds', '3', '--workload', 'http', '--at-least', '0.9'];
  expect(optionsOf(given, stores)).toMatchObject({ against: 'HEAD~5', workloads: ['http'], rounds: 3, atLeast: 0.9 });
});

test('telemetry is measured by a workload of its own', () => {
  const measured = { sqlite: store({ ...timed, 'drain-telemetry': { systems: { waybill: run } } }) };
  expect(optionsOf(['--telemetry'], measured)).toMatchObject({ workloads: ['drain-telemetry'] });
});

test.each([
  [['--telemetry', '--workload', 'drain'], '--telemetry means --workload drain-telemetry'],
  [['--telemetry'], "no workload 'drain-telemetry' for sqlite"],
  [['--store', 'dynamodb', '--against', 'main'], 'nothing is timed on dynamodb'],
  [['--at-least', '0.9'], '--at-least needs --against REF'],
  [['--store', 'redis', '--against', 'main', '--at-least', 'much'], '--at-least takes a number above 0'],
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
