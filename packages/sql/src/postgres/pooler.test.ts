import type { Store } from '@waybill/core';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { postgresStore } from './store.ts';
import { appendOf, rangesOf } from './testing/journals.ts';
import { LogBook } from './testing/log-book.ts';
import { startPooler } from './testing/pooler.ts';
import { execute, postgresUrl, tempSchema, tempStore } from './testing/server.ts';
import { add, claim, complete } from './testing/work.ts';

const KEPT = "select count(*)::int from pg_prepared_statements where name like 'waybill%'";

/** One after the other: a store asks at its start which server process it has, and a free pooler gives the first. */
async function openTwo(url: string, schema: string, logger: LogBook): Promise<Store[]> {
  const options = { url, schema, logger, listen: false };
  return [await tempStore(postgresStore, options), await tempStore(postgresStore, options)];
}

async function runJobs(stores: readonly Store[]): Promise<void> {
  const made = await Promise.all(stores.flatMap((store) => [add(store, 1), add(store, 30), add(store, 1)]));
  const done = new Set<string>();
  while (done.size < 64) {
    const claimed = await Promise.all(stores.map((store) => claim(store, 20)));
    for (const [index, store] of stores.entries()) {
      const said = await store.journal!.append(claimed[index]!.map((job) => appendOf(store, job, [1, 2])));
      expect(said.filter(({ status }) => status !== 'stored')).toEqual([]);
      for (const job of claimed[index]!.slice(0, 1)) expect(await rangesOf(store, job)).toEqual(['1..2']);
    }
    await Promise.all(stores.map((store, index) => complete(store, claimed[index]!)));
    for (const { id } of claimed.flat()) done.add(id);
  }
  expect([...done].sort()).toEqual(
    made
      .flat()
      .map(({ id }) => id)
      .sort(),
  );
}

test('behind a transaction pooler jobs are stored, claimed and completed, and nothing is left on its connections', async () => {
  const url = await postgresUrl();
  const pooler = await startPooler(url, 2);
  const logger = new LogBook();
  await runJobs(await openTwo(pooler.url, tempSchema(url), logger));
  expect(pooler.handovers).toBeGreaterThan(2);
  expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  expect(await execute(pooler.url, KEPT)).toEqual([[0]]);
});

test('F2: a pooler that passes for the server is found out, and nothing is lost', async () => {
  const url = await postgresUrl();
  const pooler = await startPooler(url, 2, { isIndiscreet: true });
  const logger = new LogBook();
  const stores = await openTwo(pooler.url, tempSchema(url), logger);
  // It shows when a connection comes to a server process that has not read its statement yet.
  while (!logger.messages('warn').some((message) => message.includes('pooler in between'))) await runJobs(stores);
  expect(pooler.handovers).toBeGreaterThan(2);
  await runJobs(stores);
});

test('who traces the statements may write into their texts', async () => {
  let calls = 0;
  class TracedClient extends pg.Client {
    override query = ((config: { text?: string }, ...rest: never[]) => {
      calls += 1;
      const text = `${config.text} /* call ${calls} */`;
      return super.query((config.text ? { ...config, text } : config) as pg.QueryConfig, ...rest);
    }) as pg.Client['query'];
  }
  const url = await postgresUrl();
  const pool = new pg.Pool({ connectionString: url, max: 1, Client: TracedClient });
  onTestFinished(() => pool.end());
  const logger = new LogBook();
  const store = await tempStore(postgresStore, { pool, schema: tempSchema(url), listen: false, logger });
  await add(store, 1);
  await add(store, 1);
  expect(await claim(store, 20)).toHaveLength(2);
  await logger.line('warn', /changes their texts/);
});

test('on a connection to the server itself what happens to every job is read and planned once', async () => {
  const url = await postgresUrl();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  onTestFinished(() => pool.end());
  const store = await tempStore(postgresStore, { pool, schema: tempSchema(url), listen: false });
  await add(store, 1);
  await complete(store, await claim(store, 20));
  const { rows } = await pool.query(KEPT);
  // To store one, to claim one and to end it.
  expect(rows).toEqual([{ count: 3 }]);
});
