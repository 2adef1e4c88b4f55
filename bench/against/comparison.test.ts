import { expect, test } from 'vitest';
import type { Result } from '../result.ts';
import { alternate, comparisonOf, headingOf, isGoodEnough, ratiosOf } from './comparison.ts';

const rate = (jobs: number, round = 1): Result => ({
  ...{ workload: 'drain', system: 'waybill', round, jobs, seconds: 1, rss_mb: 100, settings: 'none' },
});
const wait = (p50_ms: number): Result => ({ ...rate(100), p50_ms, p95_ms: 2 * p50_ms, p99_ms: 4 * p50_ms });

test('both builds run in every round, in the opposite order of the round before', async () => {
  const order: string[] = [];
  const results = await alternate(3, async (side, round) => {
    order.push(`${side} ${round}`);
    return round;
  });
  expect(order).toEqual(['this 0', 'ref 0', 'ref 1', 'this 1', 'this 2', 'ref 2']);
  expect(results).toEqual({ this: [0, 1, 2], ref: [0, 1, 2] });
});

test('a ratio above 1 is better for this build, of rates as of latencies', () => {
  expect(ratiosOf({ this: [rate(200), rate(50)], ref: [rate(100), rate(100)] })).toEqual([2, 0.5]);
  expect(ratiosOf({ this: [wait(1), wait(4)], ref: [wait(2), wait(2)] })).toEqual([2, 0.5]);
});

test('a comparison tells the median ratio, its range and what each build measured', () => {
  const results = { this: [rate(98), rate(93), rate(105)], ref: [rate(100), rate(100), rate(100)] };
  expect(comparisonOf({ name: 'drain', results }, 'HEAD~5', 9, 0.9).split('\n')).toEqual([
    'drain      0.98 (0.93..1.05) of HEAD~5   ok: at least 0.90',
    '  this    98 jobs/s  slowest round 1 s',
    '  HEAD~5  100 jobs/s  slowest round 1 s',
  ]);
});

test('a comparison of latencies tells the waits', () => {
  const told = comparisonOf({ name: 'latency', results: { this: [wait(1)], ref: [wait(2)] } }, 'main', 7);
  expect(told.split('\n')).toEqual([
    'latency  2.00 (2.00..2.00) of main',
    '  this  p50 1  p95 2  p99 4 ms',
    '  main  p50 2  p95 4  p99 8 ms',
  ]);
});

test('the server is told once, and a slow round with the build that had it', () => {
  const server = 'PostgreSQL 18';
  const ours = [1, 2, 3].map((round) => ({ ...rate(100, round), server }));
  const ref = ours.map((result) => ({ ...result, seconds: result.round === 2 ? 4 : 1 }));
  const told = comparisonOf({ name: 'drain', results: { this: ours, ref } }, 'main', 5).split('\n');
  expect(told[1]).toBe('  on PostgreSQL 18');
  expect(told.at(-1)).toBe('        round 2 took 4.0 times the median');
});

test('a ratio that two digits would round up to the limit is told with three', () => {
  const results = { this: [rate(896)], ref: [rate(1_000)] };
  expect(comparisonOf({ name: 'drain', results }, 'main', 5, 0.9)).toContain('too low: 0.896 is below 0.90');
  expect(isGoodEnough(ratiosOf(results), 0.9)).toBe(false);
  expect(isGoodEnough(ratiosOf(results), undefined)).toBe(true);
});

test('the heading says in which direction a ratio is better', () => {
  const heading = headingOf('main', { rounds: 9, tree: '1234567 with uncommitted changes', commit: '89abcde' });
  expect(heading).toContain('this (1234567 with uncommitted changes) against main (89abcde): median of 9 rounds');
  expect(heading).toContain('Higher is better everywhere: a rate is this / main, a latency (p50) is main / this.');
});
