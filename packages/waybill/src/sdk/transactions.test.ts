import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Logger } from '@waybill/core';
import { task } from '@waybill/worker';
import pg from 'pg';
import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { execute, tempDatabase } from '../testing/temp-database.ts';
import { type Connection, connect } from './connect.ts';

interface Bench {
  url: string;
  waybill: Connection;
  pool: pg.Pool;
  warnings: string[];
  /** Runs in a transaction, which is rolled back when it throws. */
  inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  shipments(): Promise<number[]>;
}

/** A database with the caller's own table beside Waybill's. */
async function bench(): Promise<Bench> {
  const url = await tempDatabase();
  await execute(url, 'create table shipments (n int)');
  const warnings: string[] = [];
  const warn = (_: object, message: string) => warnings.push(message);
  const logger: Logger = { debug: () => {}, info: () => {}, warn, error: warn };
  const waybill = await connect(url, { logger });
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  // The database is dropped under connections that are still ending.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  onTestFinished(async () => {
    await waybill.close();
    await pool.end();
  });
  return {
    ...{ url, waybill, pool, warnings },
    inTransaction: async (work) => {
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
    },
    shipments: async () =>
      (await pool.query<{ n: number }>('select n from shipments order by n')).rows.map(({ n }) => n),
  };
}

const insert = (client: pg.PoolClient, n: number) => client.query('insert into shipments values ($1)', [n]);

async function eventsOf({ waybill }: Bench, id: string): Promise<string[]> {
  const { events } = await waybill.events.read({ limit: 100, filter: { jobIds: [id] } });
  return events.map(({ type }) => type);
}

test('jobs are enqueued with the transaction and not without it', async () => {
  const own = await bench();
  const { waybill, inTransaction, shipments } = own;
  const note = task('order.note', { run: ({ n }: { n: number }) => n * 2 });
  const failing = inTransaction(async (client) => {
    await insert(client, 1);
    await waybill.enqueue(note, { n: 1 }, { within: client });
    await waybill.enqueueMany(note, [{ n: 2 }, { n: 3 }], { within: client });
    throw new Error('No.');
  });
  await expect(failing).rejects.toThrow('No.');
  expect(await shipments()).toEqual([]);
  expect((await waybill.jobs.list({ limit: 1 })).items).toEqual([]);

  waybill.work([note]);
  const jobs = await inTransaction(async (client) => {
    await insert(client, 1);
    const one = await waybill.enqueue(note, { n: 1 }, { within: client });
    return [one, ...(await waybill.enqueueMany(note, [{ n: 2 }, { n: 3 }], { within: client }))];
  });
  expect(await Promise.all(jobs.map((job) => waybill.wait(job)))).toEqual([2, 4, 6]);
  expect(await shipments()).toEqual([1]);
});

test('a run is completed in the transaction of its handler, and what comes after is a repetition', async () => {
  const own = await bench();
  const { waybill, inTransaction, shipments, warnings } = own;
  const ship = task('order.ship', {
    run: ({ n }: { n: number }, context) =>
      inTransaction(async (client) => {
        await insert(client, n);
        return context.complete({ shipped: n }, { within: client });
      }),
  });
  const worker = waybill.work([ship]);
  const job = await waybill.enqueue(ship, { n: 7 });
  const result = await waybill.wait(job);
  expectTypeOf(result).toEqualTypeOf<{ shipped: number }>();
  expect(result).toEqual({ shipped: 7 });
  await worker.stop();
  expect(await shipments()).toEqual([7]);
  expect(await eventsOf(own, job.id)).toEqual(['job.enqueued', 'job.started', 'job.completed']);
  expect(warnings).toEqual([]);
});

test('rolled back and thrown, the run fails as ever, and the next one does it', async () => {
  const own = await bench();
  const { waybill, inTransaction, shipments } = own;
  const ship = task('order.ship', {
    retry: { initial_interval: 'PT0.001S' },
    run: ({ n }: { n: number }, context) =>
      inTransaction(async (client) => {
        await insert(client, n);
        await context.complete(null, { within: client });
        if (context.attempt === 1) throw new Error('The commit failed.');
      }),
  });
  waybill.work([ship]);
  const job = await waybill.enqueue(ship, { n: 7 });
  await waybill.wait(job);
  expect(await shipments()).toEqual([7]);
  const { state, run, errors } = await waybill.jobs.get(job.id);
  expect([state, run, errors.map(({ message }) => message)]).toEqual(['completed', 2, ['The commit failed.']]);
});

test('a run that is not ours any more cannot be completed, so the transaction is rolled back', async () => {
  const own = await bench();
  const { waybill, inTransaction, shipments } = own;
  const refused: unknown[] = [];
  const ship = task('order.ship', {
    run: async ({ n }: { n: number }, context) => {
      await waybill.jobs.cancel(context.job.id);
      const attempt = inTransaction(async (client) => {
        await insert(client, n);
        await context.complete(null, { within: client });
      });
      refused.push(await attempt.catch((error: unknown) => error));
      await attempt;
    },
  });
  const worker = waybill.work([ship]);
  const job = await waybill.enqueue(ship, { n: 7 });
  await expect(waybill.wait(job)).rejects.toMatchObject({ details: { state: 'cancelled' } });
  await worker.drain();
  expect(refused).toMatchObject([{ code: 'lease_lost' }]);
  expect(await shipments()).toEqual([]);
});

test('what throws after the commit does not undo it', async () => {
  const own = await bench();
  const { waybill, inTransaction, shipments, warnings } = own;
  const ship = task('order.ship', {
    run: async ({ n }: { n: number }, context) => {
      await inTransaction(async (client) => {
        await insert(client, n);
        await context.complete('done', { within: client });
      });
      throw new Error('Too late.');
    },
  });
  const worker = waybill.work([ship]);
  const job = await waybill.enqueue(ship, { n: 7 });
  expect(await waybill.wait(job)).toBe('done');
  await worker.drain();
  expect(await shipments()).toEqual([7]);
  expect(await waybill.jobs.get(job.id)).toMatchObject({ state: 'completed', run: 1 });
  expect(warnings.at(-1)).toContain('came too late');
});

test('a queue that keeps nothing keeps nothing, and nobody is surprised', async () => {
  const { waybill, inTransaction, shipments, warnings } = await bench();
  await waybill.queues.setKeep('orders', 'none');
  const started = Promise.withResolvers<void>();
  const ship = task('order.ship', {
    queue: 'orders',
    run: ({ n }: { n: number }, context) =>
      inTransaction(async (client) => {
        started.resolve();
        await insert(client, n);
        return context.complete(n, { within: client });
      }),
  });
  const worker = waybill.work([ship]);
  const job = await waybill.enqueue(ship, { n: 7 });
  await started.promise;
  await worker.drain();
  expect(await shipments()).toEqual([7]);
  await expect(waybill.jobs.get(job.id)).rejects.toMatchObject({ code: 'not_found' });
  expect(warnings).toEqual([]);
});

test('a workflow goes on when the transaction of its node has committed', async () => {
  const { waybill, inTransaction, shipments } = await bench();
  const seen: unknown[] = [];
  const ship = task('order.ship', {
    run: ({ n }: { n: number }, context) =>
      inTransaction(async (client) => {
        await insert(client, n);
        seen.push(context.parentResults);
        return context.complete({ shipped: n }, { within: client });
      }),
  });
  waybill.work([ship]);
  const steps = [1, 2].map((n) => ({ type: 'order.ship', args: [{ n }] }));
  const flow = await waybill.workflows.create({ type: 'chain', steps });
  const { items } = await waybill.workflows.nodes(flow.id, { limit: 10 });
  await Promise.all(items.map(({ id }) => waybill.wait(id)));
  expect(await shipments()).toEqual([1, 2]);
  expect(seen).toEqual([[], [{ shipped: 1 }]]);
});

test('a result that cannot be kept is refused inside of the transaction', async () => {
  const { waybill, inTransaction, shipments } = await bench();
  const ship = task('order.ship', {
    retry: { max_attempts: 1 },
    run: ({ n }: { n: number }, context) =>
      inTransaction(async (client) => {
        await insert(client, n);
        await context.complete('x'.repeat(100), { within: client });
      }),
  });
  waybill.work([ship], { maxResultBytes: 50 });
  const job = await waybill.enqueue(ship, { n: 7 });
  await expect(waybill.wait(job)).rejects.toMatchObject({ details: { error: { code: 'invalid_request' } } });
  expect(await shipments()).toEqual([]);
});

const FIXTURE = fileURLToPath(new URL('../../dist/sdk/testing/transaction-worker.js', import.meta.url));

test.each(['before', 'after'] as const)('killed right %s the commit, a run has its effect once', async (dies) => {
  const own = await bench();
  const { url, waybill, inTransaction, shipments } = own;
  const order = { order: 1, dies };
  const ship = task('order.ship', {
    run: ({ order: n }: typeof order, context) =>
      inTransaction(async (client) => {
        await insert(client, n);
        return context.complete({ order: n }, { within: client });
      }),
  });
  const job = await waybill.enqueue(ship, order);
  const child = fork(FIXTURE, [url], { stdio: 'inherit' });
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  expect(await shipments()).toEqual(dies === 'after' ? [1] : []);

  waybill.work([ship]);
  expect(await waybill.wait(job)).toEqual({ order: 1 });
  expect(await shipments()).toEqual([1]);
  const again = dies === 'before' ? ['job.lease_expired', 'job.enqueued', 'job.started'] : [];
  expect(await eventsOf(own, job.id)).toEqual(['job.enqueued', 'job.started', ...again, 'job.completed']);
});
