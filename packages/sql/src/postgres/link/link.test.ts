import { spawnSync } from 'node:child_process';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { postgresUrl, tempLink, tempSchema } from '../testing/server.ts';
import { openLink } from './open-link.ts';

test('rows come as arrays, int8 as number', async () => {
  const link = await tempLink({ migrate: false });
  const rows = await link.query('select 9007199254740991::int8, array[1, 2]::int8[], $1, null', ['a']);
  expect(rows).toEqual([[Number.MAX_SAFE_INTEGER, [1, 2], 'a', null]]);
});

test('rows come as arrays also where whoever traces the queries passes on copies of them', async () => {
  class TracedClient extends pg.Client {
    override query = ((config: object, ...rest: never[]) =>
      super.query({ ...config } as pg.QueryConfig, ...rest)) as pg.Client['query'];
  }
  const pool = new pg.Pool({ connectionString: await postgresUrl(), Client: TracedClient });
  onTestFinished(() => pool.end());
  const link = await tempLink({ pool, migrate: false });
  expect(await link.query('select 1::int8, $1', ['a'])).toEqual([[1, 'a']]);
});

test('a transaction is all or nothing', async () => {
  const link = await tempLink({ migrate: false });
  await link.query(link.sql('create schema {schema} create table t (n int)'));
  const failing = link.transaction(async (tx) => {
    await tx.query(link.sql('insert into {schema}.t values (1)'));
    throw new RangeError('no');
  });
  await expect(failing).rejects.toMatchObject({ code: 'internal', cause: { message: 'no' } });
  await link.transaction((tx) => tx.query(link.sql('insert into {schema}.t values (2)')));
  expect(await link.query(link.sql('select n from {schema}.t'))).toEqual([[2]]);
});

test('a transaction with a failed statement does not count as committed, even if its error was swallowed', async () => {
  const link = await tempLink({ migrate: false });
  const failing = link.transaction(async (tx) => {
    await tx.query('select 1 / 0').catch(() => {});
  });
  await expect(failing).rejects.toMatchObject({ code: 'internal' });
});

test('two transactions that wait for each other both come to their end', async () => {
  const link = await tempLink({ migrate: false });
  await link.query(link.sql('create schema {schema} create table t (n int primary key, hits int)'));
  await link.query(link.sql('insert into {schema}.t values (1, 0), (2, 0)'));
  const hit = link.sql('update {schema}.t set hits = hits + 1 where n = $1');
  let ready = 0;
  let bothAreReady = () => {};
  const both = new Promise<void>((resolve) => {
    bothAreReady = resolve;
  });
  const inOrder = (first: number, second: number) =>
    link.transaction(async (tx) => {
      await tx.query(hit, [first]);
      if (++ready === 2) bothAreReady();
      await both;
      await tx.query(hit, [second]);
    });
  await Promise.all([inOrder(1, 2), inOrder(2, 1)]);
  expect(ready).toBe(3);
  expect(await link.query(link.sql('select hits from {schema}.t'))).toEqual([[2], [2]]);
});

test('close waits for calls under way and refuses later ones', async () => {
  const link = await tempLink({ migrate: false });
  const call = link.query("select 'done' from pg_sleep(0.1)");
  await link.close();
  expect(await Promise.race([call, 'still waiting'])).toEqual([['done']]);
  await expect(link.query('select 1')).rejects.toMatchObject({ code: 'unavailable', message: 'The store is closed.' });
});

test("a caller's own pool is used and left open", async () => {
  const pool = new pg.Pool({ connectionString: await postgresUrl(), max: 2 });
  onTestFinished(() => pool.end());
  const link = await openLink({ pool, migrate: false });
  const woken = new Promise<readonly string[] | undefined>((resolve) => link.onWake(resolve));
  await woken;
  await link.query('select 1');
  await link.close();
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  expect(pool.listenerCount('error')).toBe(0);
});

test('names of schemas that would need quoting are refused', async () => {
  for (const schema of ['', 'Upper', 'a-b', 'a"b', 'pg_own', 'x'.repeat(49)]) {
    await expect(openLink({ schema }), schema).rejects.toMatchObject({ code: 'invalid_request' });
  }
});

test('a script that waits for close is not ended by the runtime in the middle of it', async () => {
  const module = new URL('../../../dist/postgres/index.js', import.meta.url).href;
  const url = await postgresUrl();
  const script = `
    import { postgresStore } from ${JSON.stringify(module)};
    const store = await postgresStore({ url: process.env.URL, schema: process.env.SCHEMA });
    await new Promise((resolve) => store.onWake(resolve));
    await store.close();
    console.log('closed');`;
  const env = { ...process.env, URL: url, SCHEMA: tempSchema(url) };
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', env });
  expect([child.status, child.stdout.trim()]).toEqual([0, 'closed']);
});
