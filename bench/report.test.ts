import { expect, test } from 'vitest';
import { besideTableOf, ratioOf, tableOf } from './report.ts';
import { median, type Result } from './result.ts';

const result = (system: string, jobsPerSecond: number, more: Partial<Result> = {}): Result => ({
  ...{ workload: 'drain', system, jobs: jobsPerSecond, seconds: 1, rss_mb: 100, settings: 'none' },
  ...more,
});

/** The machine slows down by half from round to round; the ratio stays. */
const results = [
  ...[result('ours', 400), result('theirs', 200)],
  ...[result('theirs', 100), result('ours', 200)],
  ...[result('ours', 100), result('theirs', 25)],
];

test('a ratio compares runs of the same round, whatever their order in it', () => {
  expect(ratioOf(results, 'ours', 'theirs')).toBe('2.00 (2.00..4.00)');
});

test('a ratio that would round to nothing keeps two digits', () => {
  expect(ratioOf([result('ours', 1), result('theirs', 3_000)], 'ours', 'theirs')).toBe('0.00033 (0.00033..0.00033)');
});

test('the median of an even number of rounds favours neither side', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 30])).toBe(3);
});

test('without its yardstick a workload is told without ratios', () => {
  const ours = results.filter(({ system }) => system === 'ours');
  expect(tableOf('drain', ['ours', 'theirs'], results, 'theirs')).toContain('2.00 (2.00..4.00) of theirs');
  expect(tableOf('drain', ['ours'], ours, 'theirs')).not.toContain('of theirs');
});

test('of latencies the times are compared', () => {
  const told = [result('ours', 100, { p50_ms: 1, p99_ms: 6 }), result('theirs', 100, { p50_ms: 2, p99_ms: 4 })];
  expect(tableOf('latency', ['ours', 'theirs'], told, 'theirs')).toContain(
    'p50 0.50 (0.50..0.50) and p99 1.50 (1.50..1.50) of the time of theirs',
  );
});

test('each server is told once, dead tuples where they were counted, slow rates with a digit more', () => {
  const server = 'PostgreSQL 18, fsync on';
  const told = [result('ours', 100, { server, dead_tuples_per_job: 2 }), result('theirs', 1, { server, seconds: 2 })];
  const table = tableOf('drain-pinned', ['ours', 'theirs'], told, undefined);
  expect(table.split(server)).toHaveLength(2);
  expect(table).toContain('2 dead tuples per job');
  expect(table).toContain('0.5 jobs/s');
});

test('of systems that took turns each is told', () => {
  const beside = [
    { system: 'theirs', p50_ms: 2, p95_ms: 3, p99_ms: 4 },
    { system: 'others', p50_ms: 4, p95_ms: 4, p99_ms: 4 },
  ];
  const told = [result('ours', 100, { p50_ms: 1, p95_ms: 3, p99_ms: 6, beside, server: 'PostgreSQL 18' })];
  expect(besideTableOf('latency-beside', ['ours'], told).split('\n')).toEqual([
    'latency-beside',
    '  on PostgreSQL 18',
    '  ours    p50 1  p95 3  p99 6 ms',
    '  theirs  p50 2  p95 3  p99 4 ms  ours p50 0.50 (0.50..0.50), p95 1.00 (1.00..1.00), p99 1.50 (1.50..1.50) of its time',
    '  others  p50 4  p95 4  p99 4 ms  ours p50 0.25 (0.25..0.25), p95 0.75 (0.75..0.75), p99 1.50 (1.50..1.50) of its time',
  ]);
});
