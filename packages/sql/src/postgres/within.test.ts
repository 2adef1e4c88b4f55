import { engine, type JobRequest, type Transaction, type Waybill, WaybillError } from '@waybill/core';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { postgresStore } from './store.ts';
import { execute, postgresUrl, tempClient, tempSchema } from './testing/server.ts';

interface Bench {
  url: string;
  schema: string;
  waybill: Waybill;
  /** A connection of the caller's own. */
  client: pg.Client;
}

/** An engine on a schema of its own, and beside it a caller with a table of its own: `orders`. */
async function bench(): Promise<Bench> {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const waybill = engine({ store: await postgresStore({ url, schema, poolSize: 4 }), maintenance: false });
  onTestFinished(() => waybill.close());
  const client = await tempClient(url);
  await client.query(`create table "${schema}".orders (n int primary key)`);
  return { url, schema, waybill, client };
}

const request = (options: JobRequest['options'] = {}, args: JobRequest['args'] = []): JobRequest => ({
  type: 'order.ship',
  args,
  options: { queue: 'orders', ...options },
});

/** Everything that the engine has written, table by table. */
async function traces({ url, schema }: Bench): Promise<unknown[]> {
  const tables = [
    'jobs_live',
    'bundles',
    'job_bodies',
    'event_segments',
    'idempotency_keys',
    'unique_keys',
    'limits',
    'workflows',
  ];
  const counts = tables.map((table) => `(select count(*)::int from "${schema}".${table})`);
  const [row] = await execute(url, `select ${counts.join(', ')}`);
  return row!;
}

test('rolled back, a job has never existed; committed, it is as any other', async () => {
  const own = await bench();
  const { client, schema, waybill } = own;
  const all = request({
    rate_limit: { key: 'k', concurrency: 1 },
    unique: { keys: ['type'] },
  });
  const before = await traces(own);
  await client.query('begin');
  await client.query(`insert into "${schema}".orders values (1)`);
  await waybill.jobs.enqueue(all, { within: client, idempotencyKey: 'once' });
  await waybill.jobs.enqueueMany([request(), request()], { within: client });
  await waybill.workflows.create({ type: 'chain', steps: [request(), request()] }, { within: client });
  expect(await traces(own)).toEqual(before);
  await client.query('rollback');
  expect(await traces(own)).toEqual(before);
  expect((await waybill.events.read({ limit: 10 })).events).toEqual([]);

  await client.query('begin');
  const { job, created } = await waybill.jobs.enqueue(all, { within: client, idempotencyKey: 'once' });
  await expect(waybill.jobs.get(job.id)).rejects.toMatchObject({ code: 'not_found' });
  await client.query('commit');
  expect(created).toBe(true);
  expect(await waybill.jobs.get(job.id)).toEqual(job);
  const { events } = await waybill.events.read({ limit: 10 });
  expect(events.map(({ type, jobId }) => [type, jobId])).toEqual([['job.enqueued', job.id]]);
  const [lease] = await waybill.jobs.claim({ queues: ['orders'] });
  expect(lease?.job.id).toBe(job.id);
});

test('what is met inside of the transaction is answered, and the transaction goes on', async () => {
  const { client, schema, url, waybill } = await bench();
  const rejecting = request({ unique: { keys: ['type'], on_conflict: 'reject' } });
  const { job: owner } = await waybill.jobs.enqueue(rejecting);
  const { job: keyed } = await waybill.jobs.enqueue(request(), { idempotencyKey: 'once' });

  await client.query('begin');
  await client.query(`insert into "${schema}".orders values (1)`);
  const { job: mine } = await waybill.jobs.enqueue(request(), { within: client });
  await expect(waybill.jobs.enqueue({ ...request(), id: mine.id }, { within: client })).rejects.toMatchObject({
    code: 'duplicate',
    details: { existing_job_id: mine.id },
  });
  await expect(waybill.jobs.enqueue(rejecting, { within: client })).rejects.toMatchObject({
    code: 'duplicate',
    details: { existing_job_id: owner.id },
  });
  const again = await waybill.jobs.enqueue(request(), { within: client, idempotencyKey: 'once' });
  expect(again).toEqual({ job: keyed, created: false });
  const replacing = request({ unique: { keys: ['type'], on_conflict: 'replace' } });
  const { job: heir } = await waybill.jobs.enqueue(replacing, { within: client });
  expect((await waybill.jobs.get(owner.id)).state).toBe('available');
  await client.query('commit');

  expect((await waybill.jobs.get(owner.id)).state).toBe('cancelled');
  expect((await waybill.jobs.get(heir.id)).state).toBe('available');
  expect((await waybill.jobs.get(mine.id)).state).toBe('available');
  expect(await execute(url, `select n from "${schema}".orders`)).toEqual([[1]]);
});

test('limits count what a transaction has enqueued, and a workflow of it runs', async () => {
  const { client, waybill } = await bench();
  const limited = request({ rate_limit: { key: 'k', concurrency: 1 } });
  await client.query('begin');
  const jobs = await waybill.jobs.enqueueMany([limited, limited], { within: client });
  const flow = await waybill.workflows.create({ type: 'chain', steps: [request(), request()] }, { within: client });
  await client.query('commit');
  expect(jobs.map(({ holdsSlot }) => holdsSlot)).toEqual([true, false]);
  expect(await waybill.limits.get('k')).toMatchObject({ holders: 1 });
  const nodes = await waybill.workflows.nodes(flow.id, { limit: 10 });
  expect(nodes.items.map(({ state }) => state).sort()).toEqual(['available', 'pending']);
});

test('a workflow that a transaction has made is told of with its commit, once', async () => {
  const { client, waybill } = await bench();
  const types = ['workflow.started'] as const;
  const log = async () => (await waybill.events.read({ filter: { types }, limit: 10 })).events;
  const create = () => waybill.workflows.create({ type: 'chain', steps: [request(), request()] }, { within: client });
  await client.query('begin');
  await create();
  await client.query('rollback');
  await client.query('begin');
  const { id } = await create();
  expect(await log()).toEqual([]);
  await client.query('commit');
  const [event, ...others] = await log();
  expect(event).toMatchObject({ type: 'workflow.started', subject: id, sequence: 1, data: { total_steps: 2 } });
  expect(others).toEqual([]);
  const ofJob = await waybill.events.read({ filter: { jobIds: [event!.jobId!] }, limit: 10 });
  expect(ofJob.events.map(({ type }) => type)).toEqual(['job.enqueued', 'workflow.started']);
});

test('a rival that takes the same key at the same moment is found, and the transaction goes on', async () => {
  const { client, url, waybill, schema } = await bench();
  const rival = await tempClient(url);
  await rival.query('begin');
  const { job: first } = await waybill.jobs.enqueue(request(), { within: rival, idempotencyKey: 'once' });
  await client.query('begin');
  await client.query(`insert into "${schema}".orders values (1)`);
  const second = waybill.jobs.enqueue(request(), { within: client, idempotencyKey: 'once' });
  await untilWaiting(url, client);
  await rival.query('commit');
  const { job, created } = await second;
  expect([job.id, created]).toEqual([first.id, false]);
  await client.query('commit');
  expect(await execute(url, `select n from "${schema}".orders`)).toEqual([[1]]);
});

/** Until the connection waits for a lock of another one. */
async function untilWaiting(url: string, client: pg.Client): Promise<void> {
  const { processID } = client as unknown as { processID: number };
  const text = `select wait_event_type = 'Lock' from pg_stat_activity where pid = $1`;
  while ((await execute(url, text, [processID]))[0]?.[0] !== true);
}

test('calls at the same time in one transaction do not undo each other', async () => {
  const { client, waybill } = await bench();
  const { job: taken } = await waybill.jobs.enqueue(request());
  await client.query('begin');
  const answers = await Promise.allSettled([
    waybill.jobs.enqueue(request(), { within: client }),
    waybill.jobs.enqueue({ ...request(), id: taken.id }, { within: client }),
    waybill.jobs.enqueue(request(), { within: client }),
  ]);
  await client.query('commit');
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((await waybill.jobs.list({ limit: 10 })).items).toHaveLength(3);
});

test('a pool, a client without a transaction, and a spoilt transaction are refused', async () => {
  const { client, url, waybill } = await bench();
  const pool = new pg.Pool({ connectionString: url });
  onTestFinished(() => pool.end());
  const refused = { code: 'invalid_request', hint: expect.stringContaining('not the pool') };
  await expect(waybill.jobs.enqueue(request(), { within: pool })).rejects.toMatchObject(refused);
  await expect(waybill.jobs.enqueue(request(), { within: client })).rejects.toMatchObject(refused);
  await expect(waybill.jobs.enqueue(request(), { within: {} as Transaction })).rejects.toMatchObject({
    code: 'invalid_request',
    hint: expect.stringContaining('drizzleTransaction'),
  });
  await client.query('begin');
  await expect(client.query('select 1 / 0')).rejects.toThrow();
  await expect(waybill.jobs.enqueue(request(), { within: client })).rejects.toMatchObject({ code: 'conflict' });
  await client.query('rollback');
  expect((await waybill.jobs.list({ limit: 1 })).items).toEqual([]);
});

test('a connection that is lost on the way is told as such, and leaves nothing', async () => {
  const { client, url, waybill } = await bench();
  await client.query('begin');
  await waybill.jobs.enqueue(request(), { within: client });
  const { processID } = client as unknown as { processID: number };
  await execute(url, 'select pg_terminate_backend($1)', [processID]);
  const error = await waybill.jobs.enqueue(request(), { within: client }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WaybillError);
  expect(error).toMatchObject({ code: 'unavailable' });
  expect((await waybill.jobs.list({ limit: 1 })).items).toEqual([]);
});

test('an idle worker starts the job as soon as the transaction commits', async () => {
  const { client, waybill } = await bench();
  const spans: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const claimed = waybill.jobs.claim({ queues: ['orders'], waitMs: 10_000 });
    await client.query('begin');
    await waybill.jobs.enqueue(request(), { within: client });
    await client.query('commit');
    const committedAt = performance.now();
    expect(await claimed).toHaveLength(1);
    spans.push(performance.now() - committedAt);
  }
  // Without the notification the next look would come a second later.
  const [, , median] = spans.sort((a, b) => a - b);
  expect(median).toBeLessThan(250);
});

test('a job whose transaction took long is not overlooked by a worker that has gone past its place', async () => {
  const { client, waybill } = await bench();
  await client.query('begin');
  const { job: late } = await waybill.jobs.enqueue(request(), { within: client });
  for (let n = 0; n < 3; n += 1) await waybill.jobs.enqueue(request());
  // A claim that gets all it wants remembers up to where it has read.
  expect(await waybill.jobs.claim({ queues: ['orders'], count: 2 })).toHaveLength(2);
  await client.query('commit');
  const [lease] = await waybill.jobs.claim({ queues: ['orders'] });
  const [other] = await waybill.jobs.claim({ queues: ['orders'] });
  expect([lease?.job.id, other?.job.id]).toContain(late.id);
});
