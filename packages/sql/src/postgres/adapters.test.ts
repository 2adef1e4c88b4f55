import { engine, type Transaction, type Waybill } from '@waybill/core';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import { integer, pgSchema } from 'drizzle-orm/pg-core';
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { drizzleTransaction, kyselyTransaction } from './adapters.ts';
import { postgresStore } from './store.ts';
import { execute, postgresUrl, tempSchema } from './testing/server.ts';

/** A library at work: in one transaction it stores an order and whatever is enqueued, or nothing at all. */
type Order = (n: number, work: (within: Transaction) => Promise<void>) => Promise<void>;

interface Bench {
  waybill: Waybill;
  order: Order;
  orders(): Promise<number[]>;
}

type Library = (pool: pg.Pool, schema: string) => Order;

const withDrizzle: Library = (pool, schema) => {
  const db: NodePgDatabase = drizzle({ client: pool });
  const orders = pgSchema(schema).table('orders', { n: integer().primaryKey() });
  return (n, work) =>
    db.transaction(async (tx) => {
      await tx.insert(orders).values({ n });
      await work(drizzleTransaction(tx));
    });
};

const withKysely: Library = (pool, schema) => {
  // A plugin that renames columns must not get at ours.
  const db = new Kysely<{ orders: { n: number } }>({
    dialect: new PostgresDialect({ pool }),
    plugins: [new CamelCasePlugin()],
  }).withSchema(schema);
  return (n, work) =>
    db.transaction().execute(async (trx) => {
      await trx.insertInto('orders').values({ n }).execute();
      await work(kyselyTransaction(trx));
    });
};

const LIBRARIES: [string, Library][] = [
  ['Drizzle', withDrizzle],
  ['Kysely', withKysely],
];

async function bench(library: Library): Promise<Bench> {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const waybill = engine({ store: await postgresStore({ url, schema, poolSize: 4 }), maintenance: false });
  await execute(url, `create table "${schema}".orders (n int primary key)`);
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  onTestFinished(async () => {
    await waybill.close();
    await pool.end();
  });
  const orders = async () => (await execute(url, `select n from "${schema}".orders`)).map(([n]) => n as number);
  return { waybill, order: library(pool, schema), orders };
}

const ship = { type: 'order.ship', args: [{ order: 1, note: 'ä%"\\' }] };

test.each(LIBRARIES)('%s: committed together', async (_, library) => {
  const { waybill, order, orders } = await bench(library);
  const made: unknown[] = [];
  await order(1, async (within) => {
    const options = { rate_limit: { key: 'carrier', concurrency: 1 }, unique: { keys: ['args'] } };
    const { job } = await waybill.jobs.enqueue({ ...ship, options }, { within });
    made.push(job, ...(await waybill.jobs.enqueueMany([ship, ship], { within })));
  });
  expect(await orders()).toEqual([1]);
  const { items } = await waybill.jobs.list({ limit: 10 });
  expect(items).toHaveLength(3);
  expect(items).toEqual(expect.arrayContaining(made));
});

test.each(LIBRARIES)('%s: rolled back together', async (_, library) => {
  const { waybill, order, orders } = await bench(library);
  const failing = order(1, async (within) => {
    await waybill.jobs.enqueue(ship, { within });
    throw new Error('No such carrier.');
  });
  await expect(failing).rejects.toThrow('No such carrier.');
  expect(await orders()).toEqual([]);
  expect((await waybill.jobs.list({ limit: 1 })).items).toEqual([]);
  expect((await waybill.events.read({ limit: 1 })).events).toEqual([]);
});

test.each(LIBRARIES)('%s: a duplicate is told as such and leaves the transaction whole', async (_, library) => {
  const { waybill, order, orders } = await bench(library);
  const { job } = await waybill.jobs.enqueue(ship, { idempotencyKey: 'order 1' });
  await order(1, async (within) => {
    const [again, rejected] = await Promise.allSettled([
      waybill.jobs.enqueue(ship, { within, idempotencyKey: 'order 1' }),
      waybill.jobs.enqueue({ ...ship, id: job.id }, { within }),
    ]);
    expect(again).toMatchObject({ status: 'fulfilled', value: { job: { id: job.id }, created: false } });
    expect(rejected).toMatchObject({ status: 'rejected', reason: { code: 'duplicate' } });
  });
  expect(await orders()).toEqual([1]);
  expect((await waybill.jobs.list({ limit: 10 })).items).toHaveLength(1);
});

test.each(LIBRARIES)('%s: a run is completed together with what it has written', async (_, library) => {
  const { waybill, order, orders } = await bench(library);
  const { job } = await waybill.jobs.enqueue(ship);
  const [lease] = await waybill.jobs.claim({ queues: ['default'] });
  const outcome = { kind: 'completed', result: { shipped: true } } as const;
  await order(1, async (within) => {
    await waybill.jobs.settle({ id: job.id, leaseToken: lease!.token, outcome, within });
    expect((await waybill.jobs.get(job.id)).state).toBe('active');
  });
  expect(await orders()).toEqual([1]);
  expect(await waybill.jobs.get(job.id)).toMatchObject({ state: 'completed', result: { shipped: true } });
});

test.each(LIBRARIES)('%s: what the server says is understood', async (_, library) => {
  const { waybill, order } = await bench(library);
  const failing = order(1, async (within) => {
    await expect(within.query('select 1 / 0', [])).rejects.toThrow();
    await waybill.jobs.enqueue(ship, { within });
  });
  await expect(failing).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('rolled back') });
});
