import { stripVTControlCharacters } from 'node:util';
import { silentLogger } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { startHost } from '../host.ts';
import { Terminal } from '../testing/terminal.ts';

async function overHttp(): Promise<string> {
  const serve = { host: '127.0.0.1', port: 0, portGiven: true, noAuth: false, requireLease: false, allowedHosts: [] };
  const parts = { store: 'sqlite::memory:', transport: 'poll', blobs: undefined };
  const host = await startHost({ ...serve, ...parts }, silentLogger);
  onTestFinished(() => host.drain());
  return host.url;
}

const CASES = [
  ['a store', async () => new Terminal()],
  ['a server', async () => new Terminal(await overHttp())],
] as const;

test.each(CASES)('set, list, show and remove, with %s', async (_, open) => {
  const terminal = await open();
  await terminal.run('enqueue', 'a.b');
  const acme = ['--tenant', 'acme'];
  expect(await terminal.text('budgets', 'set', '--usd', '50', '--per', 'month', ...acme)).toBe(
    '\nusd:month allows 50 usd; 0 spent, 50 left\n',
  );
  const both = ['--tokens', '2000000', '--limit', 'pages=12.5', '--per', 'total', ...acme];
  expect(await terminal.text('budgets', 'set', 'A customer with a name that is long', ...both)).toBe(
    `
tokens:total:A customer with a name that is long allows 2000000 tokens; 0 spent, 2000000 left
pages:total:A customer with a name that is long allows 12.5 pages; 0 spent, 12.5 left
`,
  );
  expect(await terminal.text('budgets')).toContain('No budgets in');
  expect(await terminal.json('budgets', 'show', 'usd:month', ...acme)).toMatchObject({
    budget: { id: 'usd:month', unit: 'usd', period: 'month', limit: 50, spent: 0, left: 50, exceeded: false },
  });
  expect(await terminal.text('budgets', 'remove', 'usd:month', ...acme)).toBe('\nusd:month is removed\n');
  expect((await terminal.run('budgets', 'show', 'usd:month', ...acme)).code).toBe(7);
});

test('lists and shows them at 80 columns', async () => {
  const terminal = new Terminal();
  await terminal.run('migrate');
  const key = 'A customer with a name that is long';
  await terminal.run('budgets', 'set', '--usd', '50', '--per', 'month');
  await terminal.run('budgets', 'set', key, '--tokens', '2000000', '--limit', 'pages=12.5', '--per', 'total');
  await terminal.run('enqueue', 'a.b');
  await terminal.engine(async ({ jobs }) => {
    const [lease] = await jobs.claim({ queues: ['default'] });
    const held = { id: lease!.job.id, leaseToken: lease!.token };
    await jobs.spend({ ...held, amounts: { usd: 50.1, tokens: 1_234_567 }, key });
  });
  terminal.isTty = true;
  terminal.columns = 80;
  const shown = async (...words: string[]) => stripVTControlCharacters(await terminal.text(...words));
  const listed = await shown('budgets');
  for (const line of listed.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect(listed).toMatchInlineSnapshot(`
    "
    BUDGET                                            LIMIT    SPENT    LEFT  ENDS
    pages:total:A customer with a name that is lo…     12.5        0    12.5  never
    tokens:total:A customer with a name that is l…  2000000  1234567  765433  never
    usd:month                                            50     50.1       0  in 31d
    "
  `);
  expect(await shown('budgets', 'show', 'usd:month')).toMatchInlineSnapshot(`
    "
    budget  usd:month
    for     all jobs of the tenant
    limit   50 usd per month
    spent   50.1
    left    0, it is used up
    ends    in 31d
    "
  `);
});

test.each([
  [[], 'Say which limit to set'],
  [['--usd', '5'], '--per must be day, month or total.'],
  [['--usd', '5', '--per', 'week'], "not 'week'"],
  [['--usd', 'much', '--per', 'day'], '--usd must be a number above 0'],
  [['--tokens', '0', '--per', 'day'], '--tokens must be a number above 0'],
  [['--limit', 'pages', '--per', 'day'], 'like pages=1000'],
  [['--limit', 'Pages=1', '--per', 'day'], 'names no unit'],
  [['--usdd', '5', '--per', 'day'], '--usd'],
])('refuses %j', async (options, message) => {
  const terminal = new Terminal();
  await terminal.run('migrate');
  const { code, err } = await terminal.run('budgets', 'set', ...options);
  expect(code).not.toBe(0);
  expect(err).toContain(message);
});
