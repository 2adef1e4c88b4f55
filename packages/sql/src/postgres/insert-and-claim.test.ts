import { randomUUID } from 'node:crypto';
import { engine, pollTransport, type Store } from '@waybill/core';
import { aJob, faultyStore } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { postgresStore } from './store.ts';
import { startProxy } from './testing/proxy.ts';
import { execute, postgresUrl, tempClient, tempSchema, tempStore } from './testing/server.ts';

const request = (store: Store, queue: string, limit = 5) => ({
  ...{ tenant: '', queues: [queue], limit },
  ...{ claimId: randomUUID(), workerId: 'w', leaseMs: 30_000, now: store.clock.now() },
});

/** Whoever waits has looked before and found nothing: only then the store knows that there is no limit. */
async function look(store: Store, ...queues: string[]): Promise<void> {
  for (const queue of queues) expect(await store.claim([request(store, queue)])).toEqual([[]]);
}

const newJob = (store: Store, queue: string, overrides = {}) => ({
  jobs: [aJob({ queue, createdAt: store.clock.now(), ...overrides })],
});

test('others are told of a job that was left, and of none that was handed over', async () => {
  const [url, schema] = [await postgresUrl(), tempSchema(await postgresUrl())];
  const store = await tempStore(postgresStore, { url, schema });
  const listener = await tempClient(url);
  await listener.query(`listen "waybill_${schema}_wake"`);
  const told = new Promise((resolve) => listener.once('notification', ({ payload }) => resolve(payload)));
  await look(store, 'taken', 'elsewhere');
  const { claimed } = await store.insertAndClaim!(newJob(store, 'taken'), request(store, 'taken'));
  expect(claimed).toHaveLength(1);
  const left = await store.insertAndClaim!(newJob(store, 'left'), request(store, 'elsewhere'));
  expect(left).toMatchObject({ answer: { status: 'inserted' }, claimed: [] });
  expect(await told).toBe('["left"]');
});

test('a job that goes before what was claimed last is found, though the queue is read from there on', async () => {
  const store = await tempStore(postgresStore);
  await look(store, 'q');
  await store.insert([{ jobs: [1, 2, 3].map(() => aJob({ queue: 'q', createdAt: store.clock.now() })) }]);
  const [first] = await store.claim([request(store, 'q', 1)]);
  expect(first).toHaveLength(1);
  const urgent = newJob(store, 'q', { priority: 50 });
  const { claimed } = await store.insertAndClaim!(urgent, request(store, 'q', 1));
  expect(claimed!.map(({ id }) => id)).toEqual([urgent.jobs[0]!.job.id]);
});

/** A store that takes a few kilobytes for too large an answer. */
async function narrowStore(): Promise<Store> {
  const [url, schema] = [await postgresUrl(), tempSchema(await postgresUrl())];
  const store = await tempStore(postgresStore, { url, schema });
  const [[text]] = (await execute(url, `select pg_get_functiondef('"${schema}".claim_v1'::regproc)`)) as [[string]];
  expect(text).toContain('> 134217728');
  await execute(url, text.replace('> 134217728', '> 1500'));
  return store;
}

test('jobs that are too large together are claimed a few at a time', async () => {
  const store = await narrowStore();
  await look(store, 'q');
  const large = () => newJob(store, 'q', { spec: { args: ['x'.repeat(1_000)], meta: {} } });
  const groups = [large(), large(), large()];
  for (const group of groups.slice(1)) await store.insert([group]);
  // The new one is stored, though it could not be given together with the others.
  const both = await store.insertAndClaim!(groups[0]!, request(store, 'q'));
  expect(both).toMatchObject({ answer: { status: 'inserted' }, claimed: null });
  const given = await store.claim([request(store, 'q'), request(store, 'q'), request(store, 'q')]);
  expect(given.map((jobs) => jobs.length)).toEqual([1, 1, 1]);
  expect(new Set(given.flat().map(({ id }) => id))).toEqual(new Set(groups.map(({ jobs }) => jobs[0]!.job.id)));
});

test('those that were too large to come with the others are not slept through', async () => {
  const store = await narrowStore();
  const waybill = engine({ store, transport: pollTransport({ store, safetyNetMs: 60_000 }), maintenance: false });
  onTestFinished(() => waybill.close());
  const large = { type: 'test.job', args: ['x'.repeat(1_000)] };
  const made = await waybill.jobs.enqueueMany([large, large, large]);
  const given: string[] = [];
  for (let claims = 0; claims < 3; claims += 1) {
    const leases = await waybill.jobs.claim({ queues: ['default'], count: 5, waitMs: 60_000 });
    given.push(...leases.map(({ job }) => job.id));
  }
  expect(given.sort()).toEqual(made.map(({ id }) => id).sort());
});

test('the write is one transaction', async () => {
  const [url, schema] = [await postgresUrl(), tempSchema(await postgresUrl())];
  const store = await tempStore(postgresStore, { url, schema });
  await look(store, 'q');
  await store.insertAndClaim!(newJob(store, 'q'), request(store, 'q'));
  const tables = ['jobs_live', 'job_bodies', 'claims', 'event_segments'];
  const writers = tables.map((table) => `select xmin::text from "${schema}".${table}`).join(' union all ');
  const rows = await execute(url, writers);
  expect(rows).toHaveLength(5);
  expect(new Set(rows.flat()).size).toBe(1);
});

test('an enqueue never waits for those who claim from a queue with a limit', async () => {
  const [url, schema] = [await postgresUrl(), tempSchema(await postgresUrl())];
  const store = await tempStore(postgresStore, { url, schema });
  await look(store, 'free', 'narrow');
  await store.queues.setLimit('', 'narrow', { concurrency: 1, rate: null });
  await look(store, 'narrow');
  const rival = await tempClient(url);
  await rival.query('begin');
  await rival.query(`select from "${schema}".queues where name = 'narrow' for update`);
  const waiting = { ...request(store, 'narrow'), queues: ['free', 'narrow'] };
  for (const queue of ['narrow', 'free']) {
    const both = await store.insertAndClaim!(newJob(store, queue), waiting);
    expect(both).toMatchObject({ answer: { status: 'inserted' }, claimed: null });
  }
  await rival.query('commit');
  const [claimed] = await store.claim([waiting]);
  expect(claimed!.map(({ queue }) => queue)).toEqual(['free', 'narrow']);
});

// fault: the connection breaks after the write, and its answer is lost
test('guarantee 10: an answer that is lost with its connection changes nothing for who waits', async () => {
  const proxy = await startProxy(await postgresUrl());
  const store = faultyStore(await tempStore(postgresStore, { url: proxy.url }), []);
  const waybill = engine({ store, maintenance: false });
  onTestFinished(() => waybill.close());
  let rounds = 0;
  // On a busy machine a claim may come to wait only after the enqueue, which is then an insert alone.
  while (store.calls('insertAndClaim') < 3) {
    const round = rounds;
    rounds += 1;
    expect(rounds).toBeLessThan(30);
    const waits = new Promise<void>((resolve) => {
      const { sleep } = store.clock;
      store.clock.sleep = (...args) => {
        store.clock.sleep = sleep;
        resolve();
        return sleep.apply(store.clock, args);
      };
    });
    const claim = waybill.jobs.claim({ queues: ['default'], waitMs: 60_000 });
    await waits;
    const mark = `mark-${round}`;
    proxy.loseAnswerTo(mark);
    const { job } = await waybill.jobs.enqueue({ type: 'test.job', args: [mark] });
    const [lease] = await claim;
    expect(lease!.job).toMatchObject({ id: job.id, run: 1, attempt: 1 });
    await waybill.jobs.settle({ id: job.id, leaseToken: lease!.token, outcome: { kind: 'completed', result: round } });
  }
  const { events } = await waybill.events.read({ limit: 100 });
  expect(events.map(({ type }) => type)).toEqual(
    Array.from({ length: rounds }, () => ['job.enqueued', 'job.started', 'job.completed']).flat(),
  );
});
