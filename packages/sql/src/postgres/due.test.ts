import { engine, silentLogger } from '@waybill/core';
import { aJob, TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { postgresStore } from './store.ts';
import { postgresUrl, tempClient, tempSchema, tempStore } from './testing/server.ts';

const RATE = { queue: 'limited', rate_limit: { key: 'hot', rate: { limit: 1, period: 'PT2S' } } };

async function open() {
  const url = await postgresUrl();
  const clock = new TestClock();
  const store = await tempStore(postgresStore, { url, schema: tempSchema(url), clock, listen: false });
  const waybill = engine({ store, maintenance: false, logger: silentLogger });
  const application = await tempClient(url);
  await application.query('begin');
  return { clock, store, jobs: waybill.jobs, application };
}

test('A1: a row that an open transaction holds keeps no other from being due, and comes up after it', async () => {
  const { clock, store, jobs, application } = await open();
  const { job } = await jobs.enqueue({ type: 'held.one', args: [] });
  const [lease] = await jobs.claim({ queues: ['default'], leaseMs: 1_000 });
  const outcome = { kind: 'completed', result: 1 } as const;
  await jobs.settle({ id: job.id, leaseToken: lease!.token, outcome, within: application });
  const other = aJob({ createdAt: clock.now(), scheduledAt: clock.now() + 1_000 });
  await store.insert([{ jobs: [other] }]);
  await clock.advance(2_000);
  const due = () => store.due({ now: clock.now(), limit: 10 });
  expect((await due()).jobs.map(({ id }) => id)).toEqual([other.job.id]);
  await application.query('rollback');
  expect((await due()).jobs.map(({ id }) => id).sort()).toEqual([job.id, other.job.id].sort());
});

test('A1: a limit that an open transaction holds keeps nothing else from being due', async () => {
  const { clock, store, jobs, application } = await open();
  for (let n = 0; n < 3; n += 1) await jobs.enqueue({ type: 'limited.one', args: [], options: RATE });
  await jobs.claim({ queues: ['limited'] });
  await jobs.enqueue({ type: 'limited.one', args: [], options: RATE }, { within: application });
  const other = aJob({ createdAt: clock.now(), scheduledAt: clock.now() + 1_000 });
  await store.insert([{ jobs: [other] }]);
  await clock.advance(5_000);
  const due = await store.due({ now: clock.now(), limit: 10 });
  expect(due.jobs.map(({ id }) => id)).toContain(other.job.id);
  expect(due.admitted).toEqual([]);
  await application.query('rollback');
  expect((await store.due({ now: clock.now(), limit: 10 })).admitted).toHaveLength(1);
});
