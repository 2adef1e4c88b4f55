import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const EMPTY = {
  available: 0,
  parked: 0,
  active: 0,
  scheduled: 0,
  retryable: 0,
  pending: 0,
  completed: 0,
  cancelled: 0,
  discarded: 0,
  depth: 0,
};

test('queues are listed once they have had a job', async () => {
  const { get, enqueued, waybill } = harness();
  expect((await get('/ojs/v1/queues')).body).toMatchObject({ queues: [], pagination: { total: 0, has_more: false } });
  await enqueued({ queue: 'a' });
  await waybill.queues.pause('b');
  expect((await get('/ojs/v1/queues')).body.queues).toEqual([
    { name: 'a', status: 'active', paused: false },
    { name: 'b', status: 'paused', paused: true },
  ]);
});

test('a queue that nobody has used is empty, not missing', async () => {
  const { get } = harness();
  const queue = { name: 'new', status: 'active', paused: false, ...EMPTY };
  expect(await get('/ojs/v1/queues/new')).toMatchObject({ status: 200, body: { queue: { ...queue, unused: true } } });
  const { status, body } = await get('/ojs/v1/queues/new/stats');
  expect([status, body]).toEqual([200, { queue, stats: { queue: 'new', ...EMPTY } }]);
});

test('stats count by state and tell how long the next job has waited', async () => {
  const { get, post, enqueued, fetched, clock } = harness();
  await enqueued();
  await enqueued();
  await enqueued({ scheduled_at: '+PT1H' });
  await enqueued({ pending: true });
  await clock.advance(500);
  const { id, lease_token } = await fetched();
  const seen = async () => (await get('/ojs/v1/queues/default/stats')).body;
  expect((await seen()).queue).toMatchObject({ available: 1, active: 1, scheduled: 1, pending: 1, depth: 2 });
  expect((await seen()).stats).toMatchObject({ queue: 'default', depth: 2, oldest_age_ms: 500 });
  await post('/ojs/v1/workers/ack', { job_id: id, lease_token });
  expect((await seen()).queue).toMatchObject({ available: 1, active: 0, completed: 1 });
});

test('a paused queue takes jobs and gives none, with or without a body', async () => {
  const { post, enqueued, fetched } = harness();
  const paused = await post('/ojs/v1/queues/q/pause', {});
  expect([paused.status, paused.body.queue]).toEqual([200, { name: 'q', status: 'paused', paused: true }]);
  await enqueued({ queue: 'q' });
  expect((await post('/ojs/v1/workers/fetch', { queues: ['q'] })).body.jobs).toEqual([]);
  expect((await post('/ojs/v1/queues/q/resume')).body.queue.paused).toBe(false);
  await fetched({ queues: ['q'] });
});

test('a queue can be limited as a whole, and its limit taken away', async () => {
  const { put, get, post, delete: remove, enqueued, fetched } = harness();
  const limited = await put('/ojs/v1/queues/q/limit', { concurrency: 1, rate: { limit: 5, period: 'PT1M' } });
  const limit = { concurrency: 1, rate: { limit: 5, period: 'PT60S', period_ms: 60_000 } };
  expect([limited.status, limited.body.queue.limit]).toEqual([200, limit]);
  expect((await get('/ojs/v1/queues/q')).body.queue.limit).toEqual(limit);
  await enqueued({ queue: 'q' });
  await enqueued({ queue: 'q' });
  await fetched({ queues: ['q'] });
  expect((await post('/ojs/v1/workers/fetch', { queues: ['q'] })).body.jobs).toEqual([]);
  expect((await remove('/ojs/v1/queues/q/limit')).body.queue).not.toHaveProperty('limit');
  await fetched({ queues: ['q'] });
});

test('what is no queue name is refused', async () => {
  const { raw } = harness();
  const headers = { 'Content-Type': 'application/json' };
  for (const name of ['A', '-a', 'a%20b', 'q!', '%00', 'x'.repeat(129)]) {
    for (const [method, path, body] of [
      ['GET', ''],
      ['GET', '/stats'],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['PUT', '/limit', '{"concurrency":1}'],
      ['DELETE', '/limit'],
    ] as const) {
      const init = body === undefined ? {} : { headers, body };
      const answer = await raw(method, `/ojs/v1/queues/${name}${path}`, init);
      expect([name, path, answer.status, answer.body.error.code]).toEqual([name, path, 400, 'invalid_request']);
    }
  }
});
