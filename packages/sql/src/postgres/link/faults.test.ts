import { inspect } from 'node:util';
import { silentLogger } from '@waybill/core';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { LogBook } from '../testing/log-book.ts';
import { startProxy } from '../testing/proxy.ts';
import { execute, postgresUrl, tempClient, tempLink, tempSchema, tempTable } from '../testing/server.ts';
import { openLink } from './open-link.ts';

const SECRET = 'secret-of-tests';

const terminate = 'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1';
const named = (application_name: string) => ({ config: { application_name }, migrate: false });

test('connections that the server ends, idle or in use, are replaced', async () => {
  const url = await postgresUrl();
  const link = await tempLink({ ...named('test-ended'), poolSize: 3 });
  await Promise.all([1, 2, 3].map(() => link.query('select pg_sleep(0.01)')));
  await execute(url, terminate, ['test-ended']);
  expect(await Promise.all([1, 2, 3].map((n) => link.query('select $1::int', [n])))).toEqual([[[1]], [[2]], [[3]]]);
  // The statement kills its own connection the first time it is made.
  await link.query(link.sql('create schema {schema}; create sequence {schema}.s'));
  const suicide = link.sql(
    "select case when nextval('{schema}.s') = 1 then pg_terminate_backend(pg_backend_pid())::text else 'alive' end",
  );
  expect(await link.query(suicide)).toEqual([['alive']]);
});

test('what no waiting can help is told at once', async () => {
  const url = new URL(await postgresUrl());
  const open = (change: (url: URL) => void) => {
    const other = new URL(url);
    change(other);
    return openLink({ url: other.href, migrate: false, patienceMs: 600_000, logger: silentLogger });
  };
  await expect(open((one) => (one.password = 'wrong'))).rejects.toMatchObject({ message: /refused the user/ });
  await expect(open((one) => (one.pathname = '/nowhere'))).rejects.toMatchObject({ message: /does not exist/ });
  const bad = openLink({ url: `postgres://u:${SECRET}@host:port/x` });
  const error: unknown = await bad.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'invalid_request' });
  expect(inspect(error, { depth: 12, showHidden: true })).not.toContain(SECRET);
});

test('the wait for a free connection of the pool is bounded, and goes on while there is patience', async () => {
  const url = await postgresUrl();
  const logger = new LogBook();
  const link = await openLink({ url, migrate: false, poolSize: 1, connectTimeoutMs: 50, patienceMs: 150, logger });
  onTestFinished(() => link.close());
  let free = () => {};
  let isHeld = () => {};
  const held = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  const holder = link.transaction(async () => {
    isHeld();
    await new Promise<void>((resolve) => {
      free = resolve;
    });
  });
  await held;
  await expect(link.query('select 1')).rejects.toMatchObject({
    code: 'unavailable',
    message: /connections of the pool/,
  });
  free();
  await holder;
  expect(await link.query('select 1')).toEqual([[1]]);
  expect(logger.messages('warn').filter((message) => /connections of the pool/.test(message))).toHaveLength(1);
});

test('a server without a connection to spare is asked again', async () => {
  const admin = await postgresUrl();
  const role = `test_narrow_${process.pid}`;
  await execute(admin, `create role "${role}" login connection limit 1 password 'narrow'`);
  onTestFinished(async () => {
    await execute(admin, `drop role "${role}"`);
  });
  const url = new URL(admin);
  url.username = role;
  url.password = 'narrow';
  const holder = new pg.Client(url.href);
  await holder.connect();
  const logger = new LogBook();
  const opening = openLink({ url: url.href, migrate: false, logger });
  await logger.line('warn', /no connection left/);
  await holder.end();
  await (await opening).close();
});

test('a connection whose other end went silent is noticed and replaced', async () => {
  const proxy = await startProxy(await postgresUrl());
  const logger = new LogBook();
  const quick = { queryTimeoutMs: 200, connectTimeoutMs: 200 };
  const link = await openLink({ url: proxy.url, migrate: false, logger, poolSize: 2, ...quick });
  onTestFinished(() => link.close());
  expect(await link.query('select 1')).toEqual([[1]]);
  proxy.freeze();
  const calls = [2, 3, 4].map((n) => link.query('select $1::int', [n]));
  await logger.line('warn', /did not answer in time/);
  proxy.thaw();
  expect(await Promise.all(calls)).toEqual([[[2]], [[3]], [[4]]]);
});

test('of connections that all went silent one costs its time, and the others are replaced unasked', async () => {
  const proxy = await startProxy(await postgresUrl());
  const quick = { queryTimeoutMs: 300, patienceMs: 0, poolSize: 5 };
  const link = await openLink({ url: proxy.url, migrate: false, listen: false, logger: silentLogger, ...quick });
  onTestFinished(() => link.close());
  const all = () => Promise.all([1, 2, 3, 4, 5].map((n) => link.query('select $1::int, pg_sleep(0.05)::text', [n])));
  await all();
  proxy.freeze();
  proxy.thaw();
  await expect(link.query('select 1')).rejects.toMatchObject({ message: /did not answer in time/ });
  expect((await all()).map(([row]) => row![0])).toEqual([1, 2, 3, 4, 5]);
});

test('a connection that ends in the same breath as it begins is replaced', async () => {
  const proxy = await startProxy(await postgresUrl());
  proxy.endNextConnection();
  const link = await openLink({ url: proxy.url, migrate: false, logger: silentLogger });
  onTestFinished(() => link.close());
  expect(await link.query('select 1')).toEqual([[1]]);
  expect(proxy.connections).toBe(2);
});

test('a client that falls silent in a transaction does not keep its locks', async () => {
  const url = await postgresUrl();
  const proxy = await startProxy(url);
  const silent = await openLink({
    url: proxy.url,
    migrate: false,
    queryTimeoutMs: 300,
    patienceMs: 0,
    logger: silentLogger,
  });
  onTestFinished(() => silent.close());
  const other = await tempLink({ url, migrate: false });
  const lock = 'select pg_advisory_xact_lock(4712)';
  let isFree = false;
  const lost = silent.transaction(async (tx) => {
    await tx.query(lock);
    proxy.freeze();
    await other.query(lock);
    isFree = true;
  });
  await expect(lost).rejects.toMatchObject({ code: 'unavailable' });
  expect(isFree).toBe(true);
});

test('an answer that is lost at commit costs neither the effect nor a second one', async () => {
  const url = await postgresUrl();
  const proxy = await startProxy(url);
  const link = await tempLink({ url: proxy.url, migrate: false, schema: tempSchema(url) });
  const table = await tempTable(link);
  const before = proxy.connections;

  proxy.loseAnswerTo('on conflict do nothing');
  await link.query(table.insert, [1]);
  expect(proxy.connections).toBe(before + 1);

  // With the end of the text: the transaction begins as one that reads what is committed.
  proxy.loseAnswerTo('commit\0');
  let tries = 0;
  await link.transaction(async (tx) => {
    tries++;
    // Seen by the second try: the first was committed, only nobody heard.
    const rows = await tx.query(link.sql('select n from {schema}.t where n = 2'));
    expect(rows).toEqual(tries === 1 ? [] : [[2]]);
    await tx.query(table.insert, [2]);
  });
  expect(tries).toBe(2);
  expect(await table.numbers()).toEqual([1, 2]);
});

test('a statement that is given up is given up by the server too', async () => {
  const url = await postgresUrl();
  const link = await tempLink({ ...named('test-given-up'), queryTimeoutMs: 100, patienceMs: 0 });
  const other = await tempClient(url);
  await other.query('begin; select pg_advisory_xact_lock(4711)');
  const waiting = link.query('select pg_advisory_xact_lock(4711)');
  await expect(waiting).rejects.toMatchObject({ code: 'unavailable', message: /did not answer in time/ });
  const busy = "select 1 from pg_stat_activity where application_name = 'test-given-up' and state = 'active'";
  while ((await execute(url, busy)).length > 0);
  await other.query('rollback');
});
