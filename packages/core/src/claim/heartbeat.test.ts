import { expect, test } from 'vitest';
import { testEngine } from '../testing/test-engine.ts';

const names = async ({ waybill }: ReturnType<typeof testEngine>): Promise<string[]> =>
  (await waybill.workers.list({})).map(({ id }) => id);

test('a strict heartbeat that is refused for all its jobs does not make a worker', async () => {
  const made = testEngine();
  const id = await made.enqueue();
  const { jobs } = made.waybill;
  const beat = { workerId: 'stranger', strict: true, jobs: [{ id, leaseToken: '1.no-claim' }] };
  expect(await jobs.heartbeat(beat)).toMatchObject({ extended: [], lost: [id], directive: 'running' });
  expect(await names(made)).toEqual([]);
  expect((await made.waybill.events.read({ limit: 10 })).events.map(({ type }) => type)).toEqual(['job.enqueued']);
});

test('a strict heartbeat for a job that its worker holds notes the worker', async () => {
  const made = testEngine();
  await made.enqueue();
  const { job, token } = await made.claimOne({ workerId: 'holder' });
  const beat = { workerId: 'holder', strict: true, jobs: [{ id: job.id, leaseToken: token }] };
  expect(await made.waybill.jobs.heartbeat(beat)).toMatchObject({ extended: [{ id: job.id }], lost: [] });
  expect(await names(made)).toEqual(['holder']);
});
