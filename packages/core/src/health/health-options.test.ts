import { expect, test } from 'vitest';
import { type HealthOptions, healthSettings } from './health-options.ts';

test('everything has a default, those of the seed for jobs', () => {
  expect(healthSettings()).toMatchObject({
    ...{ rounds: true, everyMs: 300_000 },
    jobs: { warningMs: 300_000, criticalMs: 600_000, overtimeMs: 3_600_000 },
    deadLetters: { warning: 0, critical: 100 },
  });
});

test.each<[string, unknown, string]>([
  ['a misspelt name', { jbos: {} }, "Did you mean 'jobs'?"],
  ['a misspelt level', { jobs: { warningMS: 1 } }, "Did you mean 'warningMs'?"],
  ['a misspelt level of a task', { tasks: { a: { overtime: 1 } } }, "Did you mean 'overtimeMs'?"],
  ['a level that is no number', { queueAge: { warningMs: '5m' } }, 'health.queueAge.warningMs'],
  ['a level below 0', { sweepLag: { criticalMs: -1 } }, 'health.sweepLag.criticalMs'],
  ['a warning above what is critical', { lateCrons: { warningMs: 700_000 } }, 'must not be above criticalMs'],
  [
    'a warning of a queue above what is critical for all',
    { queues: { mail: { warningMs: 2e6 } } },
    'health.queues.mail',
  ],
  ['an unknown check', { off: ['running-job'] }, 'running-job'],
  ['an interval of nothing', { everyMs: 0 }, 'health.everyMs'],
  ['a switch that is none', { rounds: 'no' }, 'health.rounds'],
])('refuses %s', (_, options, why) => {
  expect(() => healthSettings(options as HealthOptions)).toThrow(why);
});
