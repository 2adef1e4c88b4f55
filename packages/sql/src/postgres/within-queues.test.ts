import { engine, type Waybill } from '@waybill/core';
import type { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { fillIn } from './link/names.ts';
import { readAll } from './queries.ts';
import { postgresStore } from './store.ts';
import { execute, postgresUrl, tempClient, tempSchema } from './testing/server.ts';

interface Bench {
  url: string;
  schema: string;
  waybill: Waybill;
  /** By the function, in a transaction on the client. */
  enqueue(client: Client, queue: string): Promise<unknown>;
  /** As the sweep does every few seconds. */
  fold(): Promise<unknown>;
  count(table: string): Promise<unknown>;
}

/** A call that waits for a lock fails soon. */
async function bench(): Promise<Bench> {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const store = await postgresStore({ url, schema, poolSize: 4, listen: false, queryTimeoutMs: 1_500, patienceMs: 0 });
  const waybill = engine({ store, maintenance: false });
  onTestFinished(() => waybill.close());
  return {
    ...{ url, schema, waybill },
    enqueue: (client, queue) =>
      client.query(`select "${schema}".enqueue('order.ship', '[]', $1)`, [JSON.stringify({ queue })]),
    fold: () => execute(url, readAll((text) => fillIn(text, schema))['totals-fold']),
    count: async (table) => (await execute(url, `select count(*)::int from "${schema}".${table}`))[0]![0],
  };
}

const request = (queue: string) => ({ type: 'order.ship', args: [], options: { queue } });
const names = async (waybill: Waybill) => (await waybill.queues.list()).map(({ name }) => name);

async function begun(url: string): Promise<Client> {
  const client = await tempClient(url);
  await client.query('begin');
  await client.query(`set local lock_timeout = '1500ms'`);
  return client;
}

test('B14: SQL enqueue() on a new queue, then `within` in the same transaction', async () => {
  const { url, waybill, enqueue } = await bench();
  const client = await begun(url);
  await enqueue(client, 'fresh');
  await waybill.jobs.enqueue(request('fresh'), { within: client });
  await enqueue(client, 'fresh');
  await client.query('commit');
  expect(await waybill.jobs.claim({ queues: ['fresh'], count: 10 })).toHaveLength(3);
  expect(await names(waybill)).toEqual(['fresh']);
});

test('B14: no open transaction makes another wait that uses the same new queue', async () => {
  const { url, waybill, enqueue, fold } = await bench();
  const [one, two, three] = [await begun(url), await begun(url), await begun(url)];
  await enqueue(three, 'fresh');
  await waybill.jobs.enqueue(request('fresh'), { within: one });
  await waybill.jobs.enqueue(request('fresh'), { within: two });
  await waybill.jobs.enqueue(request('fresh'));
  await waybill.queues.pause('fresh');
  await waybill.queues.resume('fresh');
  for (const client of [three, two, one]) {
    await client.query('commit');
    await fold();
  }
  expect(await waybill.jobs.claim({ queues: ['fresh'], count: 10 })).toHaveLength(4);
});

test('B5: a new queue is listed with the commit, before and after it has its row; rolled back it is not', async () => {
  const { url, waybill, fold, count } = await bench();
  for (const end of ['rollback', 'commit']) {
    const client = await begun(url);
    await waybill.jobs.enqueueMany([request('fresh'), request('other'), request('fresh')], { within: client });
    expect(await names(waybill)).toEqual([]);
    await client.query(end);
    expect(await names(waybill)).toEqual(end === 'commit' ? ['fresh', 'other'] : []);
  }
  const noted = await waybill.queues.stats('fresh');
  expect(noted).toMatchObject({ paused: false, keep: 'all', limit: null, available: 2, completed: 0 });
  expect(await count('queues')).toBe(0);
  await fold();
  expect(await count('queues')).toBe(2);
  expect(await count('queue_totals')).toBe(0);
  expect(await names(waybill)).toEqual(['fresh', 'other']);
  expect(await waybill.queues.stats('fresh')).toEqual(noted);
  await expect(waybill.queues.stats('unheard')).rejects.toMatchObject({ code: 'not_found' });
});

test('B5: a queue whose row was committed is asked for once, one whose row may be rolled back is not remembered', async () => {
  const { url, schema, waybill, fold, count } = await bench();
  /** What `within` asks on the caller's connection, besides savepoints. */
  const asked = async (queue: string, prepare = async (_: Client): Promise<unknown> => undefined, end = 'commit') => {
    const client = await begun(url);
    await prepare(client);
    const texts: string[] = [];
    const query = (text: string, values: unknown[]) => {
      texts.push(text);
      return client.query(text, values);
    };
    await waybill.jobs.enqueue(request(queue), { within: { query } });
    await client.query(end);
    return texts.filter((text) => text.includes('note_queues_v1')).length;
  };
  expect(await asked('fresh')).toBe(1);
  await fold();
  expect(await asked('fresh')).toBe(1);
  expect(await asked('fresh')).toBe(0);

  const insert = (client: Client) =>
    client.query(`insert into "${schema}".queues (tenant, name) values ('', 'undone')`);
  expect(await asked('undone', insert, 'rollback')).toBe(1);
  expect(await count('queue_totals')).toBe(0);
  expect(await asked('undone')).toBe(1);
  expect(await names(waybill)).toEqual(['fresh', 'undone']);
});
