import { engine, type Waybill } from '@waybill/core';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { type PostgresStoreOptions, postgresStore } from './store.ts';
import { postgresUrl, tempSchema } from './testing/server.ts';

/** An application and Waybill on one pool. */
async function bench(max: number, options: PostgresStoreOptions = {}): Promise<{ pool: pg.Pool; waybill: Waybill }> {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const pool = new pg.Pool({ connectionString: url, max });
  onTestFinished(() => pool.end());
  const store = await postgresStore({ pool, schema, listen: false, ...options });
  const waybill = engine({ store, maintenance: false });
  onTestFinished(() => waybill.close());
  return { pool, waybill };
}

/** Runs in a transaction on a connection of the pool. */
async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

/** Resolves for all who wait as soon as so many do. */
function gate(count: number): () => Promise<void> {
  let waiting = 0;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    waiting += 1;
    if (waiting >= count) open();
    return opened;
  };
}

/** A call that waits for another connection hangs by it, since none comes before the transactions end. */
const NO_OTHER = { connectTimeoutMs: 600_000 };

const request = (queue: string) => ({ type: 'order.ship', args: [], options: { queue } });

test.each([3, 10])('B5: %i transactions that hold a pool of three enqueue into new queues', async (count) => {
  const { pool, waybill } = await bench(3, NO_OTHER);
  const allHold = gate(3);
  const queues = Array.from({ length: count }, (_, n) => `new-${n}`);
  const jobs = await Promise.all(
    queues.map((queue) =>
      inTransaction(pool, async (client) => {
        await allHold();
        return (await waybill.jobs.enqueue(request(queue), { within: client })).job;
      }),
    ),
  );
  const found = await Promise.all(jobs.map(({ id }) => waybill.jobs.get(id)));
  expect(found.map(({ queue, state }) => [queue, state])).toEqual(queues.map((queue) => [queue, 'available']));
  expect((await waybill.queues.list()).map(({ name }) => name)).toEqual(queues.toSorted());
});

test('B5: transactions that hold all connections complete runs of one bundle, replace and begin workflows', async () => {
  const { pool, waybill } = await bench(3, { bundleFrom: 1, ...NO_OTHER });
  const replacing = (n: number) => ({
    ...request('orders'),
    type: `order.cancel-${'abc'[n]}`,
    options: { queue: 'replaced', unique: { keys: ['type'], on_conflict: 'replace' } },
  });
  await waybill.jobs.enqueueMany(Array.from({ length: 3 }, () => request('orders')));
  const owners = await waybill.jobs.enqueueMany([replacing(0), replacing(1), replacing(2)]);
  const leases = await waybill.jobs.claim({ queues: ['orders'], count: 3 });
  expect(leases).toHaveLength(3);
  expect(await waybill.jobs.claim({ queues: ['replaced'], count: 3 })).toHaveLength(3);
  const allHold = gate(3);
  const outcome = { kind: 'completed', result: null } as const;
  await Promise.all(
    leases.map(({ job, token }, n) =>
      inTransaction(pool, async (client) => {
        await allHold();
        const { id } = job;
        await waybill.jobs.settle({ id, leaseToken: token, outcome, within: client });
        // Once more, since whatever was opened inside must not be waited for by another connection.
        await waybill.jobs.settle({ id, leaseToken: token, outcome, within: client });
        await waybill.jobs.enqueue(replacing(n), { within: client });
        await waybill.workflows.create({ type: 'chain', steps: [request(`w-${n}`)] }, { within: client });
      }),
    ),
  );
  for (const { job } of leases) expect(await waybill.jobs.get(job.id)).toMatchObject({ state: 'completed' });
  for (const { id } of owners) expect(await waybill.jobs.get(id)).toMatchObject({ state: 'cancelled' });
});

test('B5: a run whose bundle was opened inside is settled again when a connection is free', async () => {
  const { pool, waybill } = await bench(2, { bundleFrom: 1, queryTimeoutMs: 1_000, patienceMs: 0 });
  await waybill.jobs.enqueueMany([request('orders'), request('orders')]);
  const [lease, other] = await waybill.jobs.claim({ queues: ['orders'], count: 2 });
  const fenced = { leaseToken: lease!.token, outcome: { kind: 'completed', result: null } as const };
  const held = await pool.connect();
  await inTransaction(pool, async (client) => {
    await waybill.jobs.settle({ id: lease!.job.id, ...fenced, within: client });
    held.release();
    await waybill.jobs.settle({ id: lease!.job.id, ...fenced, within: client });
    await waybill.jobs.settle({ ...fenced, id: other!.job.id, leaseToken: other!.token, within: client });
  });
  expect(await waybill.jobs.get(lease!.job.id)).toMatchObject({ state: 'completed' });
  expect(await waybill.jobs.get(other!.job.id)).toMatchObject({ state: 'completed' });
});

test('B5: with all connections in use, calls and health answer at the deadline, and work again after', async () => {
  const { pool, waybill } = await bench(2, { connectTimeoutMs: 100 });
  const held = [await pool.connect(), await pool.connect()];
  const message = 'All 2 connections of the pool are in use, and none became free within 100 ms.';
  const hint = expect.stringContaining('Enlarge the pool');
  await expect(waybill.jobs.enqueue(request('orders'))).rejects.toMatchObject({ code: 'unavailable', message, hint });
  expect(await waybill.health()).toMatchObject({ status: 'degraded', store: { status: 'unhealthy', reason: message } });
  expect(pool.waitingCount).toBeGreaterThan(0);

  for (const client of held) client.release();
  await waybill.jobs.enqueue(request('orders'));
  expect(await waybill.health()).toMatchObject({ status: 'ok' });
  // What was asked for in vain came later and went back.
  expect([pool.waitingCount, pool.idleCount]).toEqual([0, 2]);
});

test('B5: a pool with a shorter limit of its own is told of in the same words', async () => {
  const { pool, waybill } = await bench(1);
  pool.options.connectionTimeoutMillis = 50;
  const held = await pool.connect();
  onTestFinished(() => held.release());
  const message = 'All 1 connections of the pool are in use, and none became free within 50 ms.';
  await expect(waybill.jobs.enqueue(request('orders'))).rejects.toMatchObject({ code: 'unavailable', message });
});
