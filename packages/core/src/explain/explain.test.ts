import { expect, test } from 'vitest';
import { scoped } from '../access/scoped.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { openWorld, testExplain } from '../testing/test-explain.ts';
import { REASONS, type ReasonCode } from './codes.ts';

const inMemory = async () => {
  const clock = new TestClock();
  return { store: memoryStore({ clock }), clock, close: async () => {} };
};

testExplain('memory', inMemory);

const reader = { id: 'reader', tenant: '', scopes: ['read'] } as const;
const limited = (queue: string) => ({ queue, rate_limit: { key: 'shared', concurrency: 1 } });

test('a caller that is narrowed to a queue learns nothing of the jobs of others', async () => {
  const { waybill, enqueue, claim, graph } = await openWorld(inMemory);
  const holder = await enqueue(limited('secret'));
  await claim('secret');
  const parked = await enqueue(limited('mine'));
  const options = { queue: 'mine' };
  const { nodeId } = await graph([
    { id: 'hidden', options: { queue: 'secret' } },
    { id: 'seen', options },
    { id: 'last', depends_on: ['hidden', 'seen'], options },
  ]);
  const whole = scoped(waybill, reader);
  expect((await whole.jobs.explain(parked)).reasons[0]).toMatchObject({ code: 'limit', jobs: [{ id: holder }] });

  const { jobs } = scoped(waybill, { ...reader, queues: ['mine'] });
  const { reasons } = await jobs.explain(parked);
  const told = reasons.map(({ code, message, details }) => [code, message, details]);
  expect(told).toEqual((['limit', 'no_worker'] as const).map((code: ReasonCode) => [code, REASONS[code], {}]));
  const [parents] = (await jobs.explain(nodeId('last'))).reasons;
  expect(parents).toMatchObject({ code: 'parents', jobs: [{ id: nodeId('seen') }], hidden: 1 });
  const text = JSON.stringify([reasons, parents]);
  for (const foreign of [holder, nodeId('hidden'), 'secret', '"node":"hidden"']) expect(text).not.toContain(foreign);
  await expect(jobs.explain(holder)).rejects.toMatchObject({ code: 'not_found' });
});

test('a job of another tenant is not found, and its workers say nothing of types', async () => {
  const { waybill, enqueue, claim, settle, worker } = await openWorld(inMemory);
  const error = { code: 'unknown_type', message: "Worker 'secret' has no such task." };
  await enqueue();
  await settle(await claim(), { kind: 'snoozed', error });
  const at = { tenant: 'other' };
  const { job } = await waybill.jobs.enqueue({ type: 'test.job', args: [] }, at);
  await worker();
  const told = await waybill.jobs.explain(job.id, at);
  expect(told.reasons.map(({ code }) => code)).toEqual(['no_worker']);
  expect(told.reasons[0]).toMatchObject({ details: { workers: 0 } });
  await expect(waybill.jobs.explain(job.id)).rejects.toMatchObject({ code: 'not_found' });
});

test('a job whose type was handed back lately is told so before a worker has looked at it', async () => {
  const { waybill, enqueue, claim, settle } = await openWorld(inMemory);
  const error = { code: 'unknown_type', message: "Worker 'w' has no such task." };
  await enqueue();
  await settle(await claim(), { kind: 'snoozed', error });
  const { reasons } = await waybill.jobs.explain(await enqueue());
  expect(reasons[0]).toMatchObject({ code: 'unknown_type', message: expect.stringContaining("Worker 'w'") });
});

test('a payload that cannot be read now is told apart from one that is gone', async () => {
  const { waybill, enqueue, blobs } = await openWorld(inMemory);
  const id = await enqueue({}, ['x'.repeat(5_000)]);
  blobs.get = () => Promise.reject(new Error('no route to host'));
  const { reasons } = await waybill.jobs.explain(id);
  expect(reasons[0]).toMatchObject({ code: 'payload_missing', message: expect.stringContaining('put off') });
  expect(JSON.stringify(reasons)).not.toContain('no route');
});

test('a rate says when the next job may start', async () => {
  const { waybill, enqueue, claim, clock } = await openWorld(inMemory);
  await waybill.queues.setLimit('mail', { concurrency: null, rate: { limit: 1, periodMs: 10_000 } });
  await enqueue({ queue: 'mail' });
  await claim('mail');
  const { reasons } = await waybill.jobs.explain(await enqueue({ queue: 'mail' }));
  expect(reasons[0]).toMatchObject({ code: 'queue_limit', details: { rate: { limit: 1, period_ms: 10_000 } } });
  expect(Date.parse(reasons[0]!.details['until'] as string)).toBeGreaterThan(clock.now());
});

test('a worker that sends no heartbeats is known by its runs, as long as their leases last', async () => {
  const { waybill, enqueue, claim, clock } = await openWorld(inMemory);
  await enqueue();
  await claim();
  const id = await enqueue();
  const codes = async () => (await waybill.jobs.explain(id)).reasons.map(({ code }) => code);
  expect(await codes()).toEqual(['turn']);
  await clock.advance(31_000);
  expect(await codes()).toEqual(['no_worker']);
});

test('what is no id is refused, and an id of no job is not found', async () => {
  const { waybill } = await openWorld(inMemory);
  await expect(waybill.jobs.explain(7 as never)).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(waybill.jobs.explain('x')).rejects.toMatchObject({ code: 'not_found' });
});
