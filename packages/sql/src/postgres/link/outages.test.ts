import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../testing/embedded.ts';
import { LogBook } from '../testing/log-book.ts';
import { tempClient, tempLink, tempTable } from '../testing/server.ts';
import { openLink } from './open-link.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());
afterEach(() => server.start());

const SECRET = 'secret-of-tests';

test('a restart of the server costs time and nothing else, and is told once', async () => {
  const logger = new LogBook();
  const link = await tempLink({ url: server.url, migrate: false, logger });
  const table = await tempTable(link);
  const calls: Promise<unknown>[] = [];
  let next = 0;
  const load = () => calls.push(...Array.from({ length: 5 }, () => link.query(table.insert, [next++])));
  load();
  await server.stop();
  load();
  await logger.line('warn', /Calls are repeated/);
  await server.start();
  await Promise.all(calls);
  expect(await table.numbers()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  while (logger.messages('info').length === 0) await link.query('select 1');
  expect(logger.messages('warn')).toHaveLength(1);
  expect(logger.messages('info')).toEqual(['PostgreSQL answers as usual again.']);
  expect(logger.text).not.toContain(SECRET);
});

test('a server that stays away is told with what to do, and without the password', async () => {
  const logger = new LogBook();
  const link = await openLink({ url: server.url, migrate: false, logger, patienceMs: 200 });
  await server.stop();
  const error: unknown = await link.query('select 1').catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'unavailable',
    retryable: true,
    hint: expect.stringContaining('waybill doctor'),
  });
  expect(inspect(error, { depth: 12, showHidden: true })).not.toContain(SECRET);
  expect(logger.text).not.toContain(SECRET);
  // Close does not wait for a server that is away.
  const patient = await Promise.race([link.close(), new Promise((resolve) => setTimeout(resolve, 5_000, 'too late'))]);
  expect(patient).toBeUndefined();
});

test('calls that wait for a server that is away end with the link', async () => {
  const logger = new LogBook();
  const link = await openLink({ url: server.url, migrate: false, logger, patienceMs: 600_000 });
  await server.stop();
  const call = link.query('select 1');
  await logger.line('warn', /Calls are repeated/);
  await Promise.all([expect(call).rejects.toMatchObject({ code: 'unavailable' }), link.close()]);
});

test('while the server takes no writes, writes wait', async () => {
  const logger = new LogBook();
  const link = await tempLink({ url: server.url, migrate: false, logger });
  const table = await tempTable(link);
  const setReadOnly = async (value: string) => {
    const admin = await tempClient(server.url);
    await admin.query('set default_transaction_read_only = off');
    await admin.query(`alter system set default_transaction_read_only = ${value}`);
    await admin.query('select pg_reload_conf()');
  };
  await setReadOnly('on');
  // The news takes a moment to reach every process.
  while ((await link.query<[string]>('show default_transaction_read_only'))[0]![0] !== 'on');
  const write = link.query(table.insert, [1]);
  await logger.line('warn', /takes no writes/);
  expect(await table.numbers()).toEqual([]);
  await setReadOnly('off');
  await write;
  expect(await table.numbers()).toEqual([1]);
  expect(logger.messages('warn')).toHaveLength(1);
});
