import { expect, test } from 'vitest';
import { testEngine } from '../testing/test-engine.ts';

const job = { type: 'email.send', args: ['ada'] };
const ID = '019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f';

// fault: none, the rule itself
test('guarantee 1: a job is in the store when enqueue answers', async () => {
  const { waybill, store } = testEngine();
  const { job: made, created } = await waybill.jobs.enqueue(job);
  expect(created).toBe(true);
  expect(await store.get([{ tenant: '', id: made.id }])).toEqual([made]);
});

// fault: the same id is enqueued again, with other args
test('guarantee 10: a repeated id is refused and changes nothing', async () => {
  const { waybill } = testEngine();
  const { job: first } = await waybill.jobs.enqueue({ ...job, id: ID });
  await expect(waybill.jobs.enqueue({ ...job, id: ID, args: ['other'] })).rejects.toMatchObject({
    code: 'duplicate',
    details: { existing_job_id: ID },
  });
  expect(await waybill.jobs.get(ID)).toEqual(first);
});

// fault: the same idempotency key comes again, with other args
test('guarantee 10: a repeated idempotency key answers the first job, per tenant', async () => {
  const { waybill } = testEngine();
  const first = await waybill.jobs.enqueue(job, { idempotencyKey: 'order-1' });
  const again = await waybill.jobs.enqueue({ ...job, args: ['other'] }, { idempotencyKey: 'order-1' });
  const elsewhere = await waybill.jobs.enqueue(job, { idempotencyKey: 'order-1', tenant: 'acme' });
  expect(again).toEqual({ job: first.job, created: false });
  expect(elsewhere.created).toBe(true);
});

// fault: the connection breaks before or after the effect of a store call
test.each(['before', 'after'] as const)(
  'guarantee 10: an insert whose connection breaks %s its effect is made once',
  async (when) => {
    const { waybill } = testEngine({ faults: [{ method: 'insert', call: 1, when }] });
    const { job: made, created } = await waybill.jobs.enqueue(job, { idempotencyKey: 'once' });
    expect(created).toBe(true);
    const { items } = await waybill.jobs.list({ limit: 10 });
    expect(items).toEqual([made]);
    const { events } = await waybill.events.read({ limit: 10 });
    expect(events.map(({ type }) => type)).toEqual(['job.enqueued']);
  },
);

test('a batch is all or nothing, and the refusal names the item', async () => {
  const { waybill } = testEngine();
  const batch = [job, { ...job, type: 'NOT A TYPE' }, job];
  await expect(waybill.jobs.enqueueMany(batch)).rejects.toMatchObject({
    code: 'invalid_request',
    details: { index: 1, field: 'type' },
  });
  await waybill.jobs.enqueue({ ...job, id: ID });
  await expect(waybill.jobs.enqueueMany([job, { ...job, id: ID }])).rejects.toMatchObject({
    code: 'duplicate',
    details: { index: 1 },
  });
  expect((await waybill.jobs.list({ limit: 10 })).items).toHaveLength(1);
});

test('a batch keeps its order in the queue', async () => {
  const { waybill } = testEngine();
  const made = await waybill.jobs.enqueueMany([1, 2, 3].map((n) => ({ type: 'a.b', args: [n] })));
  const leases = await waybill.jobs.claim({ queues: ['default'], count: 10 });
  expect(leases.map((lease) => lease.job.id)).toEqual(made.map(({ id }) => id));
});

test.each([0, 1_001])('a batch of %d jobs is refused', async (count) => {
  const { waybill } = testEngine();
  await expect(waybill.jobs.enqueueMany(Array(count).fill(job))).rejects.toMatchObject({ code: 'invalid_request' });
});

test('concurrent enqueues share a few inserts', async () => {
  const { waybill, store } = testEngine();
  await Promise.all(Array.from({ length: 500 }, () => waybill.jobs.enqueue(job)));
  expect(store.calls('insert')).toBeLessThanOrEqual(3);
});

test('a pending job waits to be activated, a scheduled one for its time', async () => {
  const { waybill, clock, enqueue } = testEngine();
  const pending = await enqueue({ pending: true });
  const later = await enqueue({ scheduled_at: '+PT5S' });
  expect(await waybill.jobs.claim({ queues: ['default'], count: 10 })).toEqual([]);
  expect(await waybill.jobs.activate(pending)).toMatchObject({ state: 'available' });
  await expect(waybill.jobs.activate(pending)).rejects.toMatchObject({ code: 'conflict' });
  await clock.advance(5_000);
  const leases = await waybill.jobs.claim({ queues: ['default'], count: 10 });
  expect(leases.map((lease) => lease.job.id)).toEqual([pending, later]);
});

test('a store that knows no transactions of others refuses them, and stores nothing', async () => {
  const { waybill, enqueue, claimOne } = testEngine();
  const within = { query: async () => ({ rows: [] }) };
  const request = { type: 'test.job', args: [] };
  const refused = { code: 'unsupported', hint: expect.stringContaining('PostgreSQL') };
  await expect(waybill.jobs.enqueue(request, { within })).rejects.toMatchObject(refused);
  await expect(waybill.jobs.enqueueMany([request], { within })).rejects.toMatchObject(refused);
  const chain = { type: 'chain', steps: [request] };
  await expect(waybill.workflows.create(chain, { within })).rejects.toMatchObject(refused);
  expect((await waybill.jobs.list({ limit: 1 })).items).toEqual([]);

  const id = await enqueue();
  const { token } = await claimOne();
  const settle = { id, leaseToken: token, outcome: { kind: 'completed', result: null } } as const;
  await expect(waybill.jobs.settle({ ...settle, within })).rejects.toMatchObject(refused);
  expect((await waybill.jobs.get(id)).state).toBe('active');
});
