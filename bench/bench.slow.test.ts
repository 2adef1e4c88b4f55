import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Result } from './result.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

async function bench(...options: string[]): Promise<Result[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--json', '--rounds', '1', ...options]);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Result);
}

test('a run on SQLite prints one line for every system', { timeout: 120_000 }, async () => {
  const results = await bench('--scale', '0.001', '--workload', 'drain', '--workload', 'drain-history');
  expect(results.map(({ workload, system, jobs }) => ({ workload, system, jobs }))).toEqual([
    { workload: 'drain', system: 'waybill', jobs: 100 },
    { workload: 'drain', system: 'waybill-lean', jobs: 100 },
    { workload: 'drain', system: 'raw', jobs: 100 },
    { workload: 'drain-history', system: 'waybill', jobs: 100 },
    { workload: 'drain-history', system: 'without-history', jobs: 100 },
  ]);
  expect(results[3]!.settings).toContain('1000 finished and 1000 scheduled rows beside');
});

test('a run on PostgreSQL does the work of its peers and tells how durable it was', { timeout: 120_000 }, async () => {
  const systems = 'graphile-worker-tuned,pg-boss-tuned';
  const chosen = ['--workload', 'drain-history', '--workload', 'drain-pinned', '--systems', systems];
  const given = process.env['WAYBILL_TEST_POSTGRES'];
  const server = given ? ['--postgres-url', given] : [];
  const results = await bench('--store', 'postgres', '--scale', '0.001', ...server, ...chosen);
  expect(results.map(({ workload, system }) => `${workload} ${system}`)).toEqual([
    'drain-history graphile-worker-tuned',
    'drain-history pg-boss-tuned',
    'drain-pinned graphile-worker-tuned',
  ]);
  for (const { server = '' } of results) expect(server).toContain(given ? 'fsync' : 'fsync on, synchronous_commit on');
  // It locks a job by one update and finishes it by a delete, and nothing may be cleaned up meanwhile.
  expect(results[2]!.dead_tuples_per_job).toBe(2);
});
