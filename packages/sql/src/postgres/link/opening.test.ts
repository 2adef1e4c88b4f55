import { inspect } from 'node:util';
import { silentLogger } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { postgresStore } from '../store.ts';
import { LogBook } from '../testing/log-book.ts';
import { startProxy } from '../testing/proxy.ts';
import { postgresUrl } from '../testing/server.ts';
import { openLink } from './open-link.ts';

/** What a mistake may take to be told. */
const SOON_MS = 2_000;

async function inTime<T>(work: Promise<T>): Promise<T> {
  const begun = performance.now();
  const answer = await work;
  expect(performance.now() - begun).toBeLessThan(SOON_MS);
  return answer;
}

test('D12: a server that swallows everything is told of within two seconds, and is waited for', async () => {
  const proxy = await startProxy(await postgresUrl());
  proxy.freeze();
  const logger = new LogBook();
  const opened = openLink({ url: proxy.url, migrate: false, connectTimeoutMs: 2_500, logger });
  onTestFinished(async () => (await opened).close());
  await inTime(logger.line('warn', /^PostgreSQL has not answered yet \(127\.0\.0\.1:\d+\/\w+\)\. .* up to 30 s\.$/));
  proxy.thaw();
  expect(await (await opened).query('select 1')).toEqual([[1]]);
  expect(logger.text).not.toContain('secret-of-tests');
});

test('D12: a server that refuses connections is told of at once, by its address', async () => {
  const logger = new LogBook();
  const opened = openLink({ url: 'postgres://u:secret@127.0.0.1:1/jobs', migrate: false, patienceMs: 100, logger });
  const told = inTime(logger.line('warn', /cannot be reached\. \(127\.0\.0\.1:1\/jobs\) Calls are repeated/));
  await expect(opened).rejects.toMatchObject({ code: 'unavailable', message: /\(127\.0\.0\.1:1\/jobs\)/ });
  await told;
  expect(logger.text).not.toContain('secret');
});

test.each<[string, (url: URL) => void, RegExp]>([
  [
    'a wrong password',
    (url) => (url.password = 'wrong-secret'),
    /^PostgreSQL refused the user or the password\. \(\S+\)$/,
  ],
  ['a wrong database', (url) => (url.pathname = '/nowhere'), /^The database does not exist\. \(\S+\/nowhere\)$/],
])('D12: %s is refused within two seconds, with the address and without its secrets', async (_, change, message) => {
  const url = new URL(await postgresUrl());
  change(url);
  const opened = openLink({ url: url.href, migrate: false, logger: silentLogger });
  const error: unknown = await inTime(opened.catch((reason: unknown) => reason));
  expect(error).toMatchObject({ code: 'unavailable', message: expect.stringMatching(message) });
  expect(inspect(error, { depth: 12, showHidden: true })).not.toMatch(/secret/);
});

test.each<[unknown, string]>([
  [undefined, 'The options of postgresStore() must be an object, not undefined.'],
  ['postgres://u:hidden@h/d', 'The options of postgresStore() must be an object, not string.'],
  [{ url: undefined }, "got 'url' as undefined"],
  [{ url: 5 }, "needs text in 'url', not number"],
  [{ url: 'mysql://u:hidden@h/d' }, 'is not a PostgreSQL URL'],
  [{ url: 'postgres://u:hidden@h/d?schem=x' }, "no parameter of Waybill's in 'url'"],
  [{ url: 'postgres://u:hidden@h/d?pool=3' }, "no parameter of Waybill's in 'url'"],
  [{ url: 'postgres://h/d', schem: 'x' }, "postgresStore() has no option 'schem'. Did you mean 'schema'?"],
  [{ url: 'postgres://h/d', schema: 'No Name' }, 'must be a plain lower-case name'],
  [{ url: 'postgres://h/d', poolSize: 0 }, "'poolSize', not 0"],
  [{ url: 'postgres://h/d', poolSize: 2.5 }, "'poolSize', not 2.5"],
  [{ url: 'postgres://h/d', patienceMs: '30s' }, "'patienceMs', not string"],
  [{ url: 'postgres://h/d', migrate: 'no' }, "'migrate', not string"],
  [{ url: 'postgres://h/d', logger: {} }, "'logger' has no method 'debug'"],
  [{ url: 'postgres://h/d', pool: {} }, 'takes url or pool, not both'],
])('D12: postgresStore(%j) is refused before it connects', async (options, why) => {
  const opened = postgresStore(options as never);
  const error: unknown = await inTime(opened.catch((reason: unknown) => reason));
  expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(why) });
  expect(inspect(error)).not.toContain('hidden');
});
