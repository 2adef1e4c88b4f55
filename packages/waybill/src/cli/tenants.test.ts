import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { silentLogger } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { startHost } from './host.ts';
import { folder, Terminal } from './testing/terminal.ts';

async function overHttp(): Promise<string> {
  const serve = { host: '127.0.0.1', port: 0, portGiven: true, noAuth: false, requireLease: false, allowedHosts: [] };
  const parts = { store: 'sqlite::memory:', transport: 'poll', blobs: undefined };
  const host = await startHost({ ...serve, ...parts }, silentLogger);
  onTestFinished(() => host.drain());
  return host.url;
}

test.each([
  ['a store', async () => new Terminal()],
  ['a server', async () => new Terminal(await overHttp())],
])('--tenant says whose, with %s', async (_, open) => {
  const terminal = await open();
  await terminal.run('enqueue', 'a.b', '--tenant', 'acme');
  await terminal.run('enqueue', 'c.d');
  await terminal.run('cron', 'add', 'daily', '@daily', '--type', 'a.b', '--tenant', 'acme');
  const typesOf = async (...args: string[]) =>
    ((await terminal.json('jobs', 'list', ...args)) as { jobs: { type: string }[] }).jobs.map(({ type }) => type);
  expect(await typesOf('--tenant', 'acme')).toEqual(['a.b']);
  expect(await typesOf()).toEqual(['c.d']);
  terminal.env = { WAYBILL_TENANT: 'acme' };
  expect(await typesOf()).toEqual(['a.b']);
  expect(await typesOf('--tenant', 'other')).toEqual([]);
  expect(await terminal.json('cron')).toMatchObject({ count: 1 });
  const id = terminal.id(1);
  expect(await terminal.json('jobs', 'show', id)).toMatchObject({ events: [{ type: 'job.enqueued' }] });
  expect((await terminal.run('jobs', 'show', id, '--tenant', 'other')).code).toBe(7);
  terminal.onOutput = () => terminal.interruption.abort();
  expect(await terminal.text('tail', '--since', 'start')).toMatch(/a\.b ID-\S+ enqueued\n$/);
});

test('a worker works for its tenant', async () => {
  const file = path.join(folder(), 'tasks.mjs');
  writeFileSync(
    file,
    "export const t = { name: 'whose.job', schema: undefined, policy: {}, run: (_, c) => c.job.tenant };",
  );
  const terminal = new Terminal();
  const working = terminal.run('work', file, '--quiet', '--tenant', 'acme');
  const other = new Terminal(terminal.store);
  expect(await other.text('enqueue', 'whose.job', '--wait', '--tenant', 'acme')).toBe('\nacme\n');
  terminal.interruption.abort();
  expect((await working).code).toBe(0);
});

test('a name that is none is wrong usage, and makes no store', async () => {
  const terminal = new Terminal();
  const { code, err } = await terminal.run('enqueue', 'a.b', '--tenant', '*');
  expect([code, err]).toEqual([2, expect.stringContaining("'tenant' must name one tenant")]);
  expect((await terminal.run('jobs', 'list')).code).toBe(7);
});
