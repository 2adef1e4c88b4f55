import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { hasJava } from '@waybill/aws/testing';
import { expect, test } from 'vitest';
import type { Result } from '../result.ts';
import { perMillion, perMonth, sumOf } from './prices.ts';
import { costTable } from './report.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
/** Skipped only where Java is missing, and that nobody accepts in CI. */
const canRun = hasJava || process.env['CI'] === 'true';

test('dollars follow from units', () => {
  expect(perMillion({ write: 8, read: 1, sqs: 0.5 })).toBeCloseTo(5 + 0.125 + 0.2);
  expect(perMonth({ write: 0, read: 3600, sqs: 0 })).toBeCloseTo(0.3285);
  expect(sumOf([3.2, 3.3, 2.3].map((write) => ({ write, read: 0.1, sqs: 0 })))).toEqual({
    write: 8.8,
    read: 0.3,
    sqs: 0,
  });
});

test('where Java is missing, every system is left out with the reason', { timeout: 60_000 }, async () => {
  const env = { ...process.env, PATH: '/nowhere' };
  const ran = await promisify(execFile)(process.execPath, [MAIN, '--store', 'dynamodb'], { env });
  expect(ran.stdout).toBe('');
  for (const system of ['sqs', 'poll'])
    expect(ran.stderr).toContain(`${system} is left out: DynamoDB Local needs Java 17`);
});

test.skipIf(!canRun)(
  'a run counts every step over SQS and without it, and tells it to people too (skipped: needs Java 17)',
  { timeout: 240_000 },
  async () => {
    const options = [
      '--json',
      '--store',
      'dynamodb',
      '--workload',
      'costs',
      '--systems',
      'sqs,poll',
      '--scale',
      '0.01',
    ];
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...options]);
    const results = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Result);
    expect(results.map(({ system, jobs }) => [system, jobs])).toEqual([
      ['sqs', 10],
      ['poll', 10],
    ]);
    const [overSqs, polled] = results.map(({ costs }) => costs!);
    for (const { enqueue, claim, settle, job, heartbeat } of [overSqs!, polled!]) {
      for (const { write } of [enqueue, claim, settle, heartbeat]) expect(write).toBeGreaterThanOrEqual(1);
      expect(job.write).toBeCloseTo(enqueue.write + claim.write + settle.write);
    }
    // Ten jobs: one send, one receive, one delete.
    expect(overSqs!.job.sqs).toBeCloseTo(0.3);
    expect(polled!.job.sqs).toBe(0);
    const table = costTable('costs', ['sqs', 'poll'], results);
    expect(table).toContain('Nothing ran on AWS');
    expect(table).toContain('0.625 USD for write units');
    expect(table).toMatch(/whole job +\d+\.\d\d/);
  },
);
