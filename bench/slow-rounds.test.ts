import { expect, test } from 'vitest';
import { tableOf } from './report.ts';
import type { Result } from './result.ts';
import { slowestRound, slowRounds } from './slow-rounds.ts';

const rounds = (...times: number[]): Result[] =>
  times.map((seconds, index) => ({
    ...{ workload: 'drain', system: 'waybill', jobs: 100, seconds, rss_mb: 100, settings: 'none' },
    round: index + 1,
  }));

test('F1: a round that took more than three times the median is named in the output', () => {
  const stalled = rounds(3.5, 3.4, 3.6, 19.4, 3.5);
  expect(slowRounds(stalled)).toEqual(['round 4 took 5.5 times the median']);
  const table = tableOf('drain', ['waybill'], stalled, undefined).split('\n');
  expect(table[1]).toContain('slowest round 19.4 s');
  expect(table[2]?.trim()).toBe('round 4 took 5.5 times the median');
});

test('a round of three times the median is not yet named, and one round has no slowest', () => {
  expect(slowRounds(rounds(1, 1, 3))).toEqual([]);
  expect(slowestRound(rounds(1))).toBe('');
});

test('where waits were timed, they decide', () => {
  const waits = [1, 1.5, 6].map((p50_ms, index) => ({ ...rounds(20)[0]!, p50_ms, round: index + 1 }));
  expect(slowRounds(waits)).toEqual(['round 3 took 4.0 times the median']);
  expect(slowestRound(waits)).toBe('slowest round p50 6 ms');
});
