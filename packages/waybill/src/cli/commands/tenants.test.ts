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

test.each(CASES)('limit, list and show, with %s', async (_, open) => {
  const terminal = await open();
  await terminal.run('enqueue', 'a.b');
  const all = ['--concurrency', '10', '--waiting', '100000', '--enqueue-rate', '100/s'];
  expect(await terminal.text('tenants', 'limit', 'acme', ...all)).toBe(
    '\nacme runs at most 10, has at most 100000 waiting, enqueues at most 100/s\n',
  );
  expect(await terminal.text('tenants', 'limit', '~default', '--enqueue-rate', '5/90s')).toBe(
    '\n~default enqueues at most 5/1m 30s\n',
  );
  expect(await terminal.text('tenants')).toMatchInlineSnapshot(`
    "
    TENANT    CONCURRENCY  WAITING  ENQUEUE RATE
    ~default            -        -  5/1m 30s
    acme               10   100000  100/s
    "
  `);
  await terminal.run('enqueue', 'a.b', '--tenant', 'acme');
  const shown = await terminal.text('tenants', 'show', 'acme');
  expect(shown).toContain('waiting    1 of 100000\n');
  expect(shown).toContain('running    0 of 10\n');
  expect(await terminal.json('tenants', 'show', 'acme')).toMatchObject({
    tenant: {
      ...{ tenant: 'acme', queues: 1, waiting: 1, active: 0, exact: true },
      limits: { waiting: 100_000, concurrency: 10, enqueue_rate: { limit: 100, period_ms: 1_000 } },
      jobs: { available: 1 },
    },
  });
  const none = ['--concurrency', 'none', '--waiting', 'none', '--enqueue-rate', 'none'];
  expect(await terminal.text('tenants', 'limit', 'acme', ...none)).toBe('\nacme has no limits\n');
  expect((await terminal.run('tenants', 'show', 'nobody')).code).toBe(7);
});

test.each(CASES)('a full tenant is told so, with %s', async (_, open) => {
  const terminal = await open();
  await terminal.run('enqueue', 'a.b');
  await terminal.run('tenants', 'limit', 'acme', '--waiting', '1');
  expect((await terminal.run('enqueue', 'a.b', '--tenant', 'acme')).code).toBe(0);
  expect((await terminal.run('enqueue', 'a.b', '--tenant', 'acme')).code).toBe(13);
});

test.each([
  [[], 'Say which limit to set'],
  [['--concurrency', 'many'], '--concurrency must be a whole number'],
  [['--concurrency', '0'], 'concurrency'],
  [['--enqueue-rate', '100'], 'like 100/s'],
  [['--enqueue-rate', '100/fortnight'], 'must be a duration'],
  [['--concurency', '1'], '--concurrency'],
])('refuses %j', async (options, message) => {
  const terminal = new Terminal();
  await terminal.run('migrate');
  const { code, err } = await terminal.run('tenants', 'limit', 'acme', ...options);
  expect(code).not.toBe(0);
  expect(err).toContain(message);
});

test.each(CASES)(
  'a list of jobs says that it is that of one tenant, where there are others, with %s',
  async (_, open) => {
    const terminal = await open();
    await terminal.run('enqueue', 'a.b', '--queue', 'own');
    expect(await terminal.run('jobs', 'list')).toMatchObject({ code: 0, err: '' });
    await terminal.run('enqueue', 'a.b', '--tenant', 'acme');
    const { out, err } = await terminal.run('jobs', 'list');
    expect(out).toContain('own');
    expect(err).toContain('There are other tenants, such as acme');
    expect(await terminal.run('jobs', 'list', '--tenant', 'acme')).toMatchObject({
      err: '',
      out: expect.stringContaining('a.b'),
    });
  },
);
