import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { hasJava } from '@waybill/aws/testing';
import { expect, test } from 'vitest';
import type { Summary } from './report.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
/** With CI=true the test itself shall fail. */
const javaIsMissing = !hasJava && process.env['CI'] !== 'true';

/** A violation makes the command exit with 1, and what it printed is part of the error. */
async function chaos(store: string): Promise<Summary> {
  const options = ['--store', store, '--minutes', String(20 / 60), '--seed', 'slow-test', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...options], { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout) as Summary;
}

function checkedBy({ guarantees }: Summary): Record<string, number> {
  return Object.fromEntries(guarantees.map(({ guarantee, about, checked = 0 }) => [guarantee ?? about, checked]));
}

test.each([
  ['sqlite', 100],
  ['postgres', 100],
])('twenty seconds of chaos on %s break no guarantee', { timeout: 240_000 }, async (store, jobs) => {
  const summary = await chaos(store);
  expect(summary).toMatchObject({ store, seed: 'slow-test', violations: 0 });
  expect(summary.jobs).toBeGreaterThan(jobs);
  // Nothing passes because nothing was there to be checked; a cron may have no tick in so short a time.
  const { 5: hints, 6: messages, 9: ticks, ...checked } = checkedBy(summary);
  expect([hints, messages]).toEqual([0, 0]);
  expect(ticks).toBeGreaterThanOrEqual(0);
  for (const count of Object.values(checked)) expect(count).toBeGreaterThan(0);
  expect(summary.faults.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(5);
});

test.skipIf(javaIsMissing)(
  'twenty seconds of chaos on DynamoDB break no guarantee (needs Java)',
  {
    timeout: 300_000,
  },
  async () => {
    const summary = await chaos('dynamodb');
    expect(summary).toMatchObject({ store: 'dynamodb', violations: 0 });
    expect(summary.jobs).toBeGreaterThan(5);
    expect(checkedBy(summary)).toMatchObject({ 1: expect.any(Number), 4: expect.any(Number) });
    expect(checkedBy(summary)[4]).toBeGreaterThan(20);
  },
);

test('a wrong option is refused with what was meant', async () => {
  const refused = promisify(execFile)(process.execPath, [MAIN, '--stor', 'sqlite']);
  await expect(refused).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean 'store'?") });
});

test('the plan is printed without starting anything', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    MAIN,
    '--store',
    'postgres',
    '--seed',
    's',
    '--plan',
  ]);
  expect(stdout).toMatch(/^seed s\n +1\.5 s {2}\S+ +\S+/);
  expect(stdout.split('\n').length).toBeGreaterThan(40);
});
