import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const KEY = '/ojs/v1/rate-limits/api.example.com:v1';
const rate_limit = { key: 'api.example.com:v1', concurrency: 1 };

test('a limit shows its rule, who holds its slots and who waits', async () => {
  const { get, post, enqueued, fetched } = harness();
  expect((await get(KEY)).status).toBe(404);
  const { options } = await enqueued({ rate_limit });
  expect(options).toEqual({ rate_limit });
  const second = await enqueued({ rate_limit });
  expect(second.state).toBe('available');
  expect((await get(KEY)).body).toEqual({ ...rate_limit, holders: 1, parked: 1 });
  expect((await get('/ojs/v1/queues/default/stats')).body.queue.available).toBe(2);
  const { id, lease_token } = await fetched();
  expect((await post('/ojs/v1/workers/fetch', { queues: ['default'] })).body.jobs).toEqual([]);
  await post('/ojs/v1/workers/ack', { job_id: id, lease_token });
  expect((await fetched()).id).toBe(second.id);
});

test('a limit set at run time holds for jobs that are there already', async () => {
  const { put, get, enqueued, fetched } = harness();
  await enqueued({ rate_limit });
  await enqueued({ rate_limit });
  const { status, body } = await put(KEY, { concurrency: 2, max_per_second: 10 });
  const rate = { limit: 10, period: 'PT1S', period_ms: 1_000 };
  expect([status, body]).toEqual([200, { key: rate_limit.key, concurrency: 2, rate, holders: 2, parked: 0 }]);
  expect((await get(KEY)).body).toEqual(body);
  await fetched();
  await fetched();
});

test('what a limit answers may be sent back to it', async () => {
  const { put } = harness();
  const { body } = await put(KEY, { concurrency: 3, rate: { limit: 7, period: 'PT1.5S' } });
  expect((await put(KEY, body)).body).toEqual(body);
});

test('a rate lets the next job start when its period has passed', async () => {
  const { post, enqueued, fetched, clock } = harness();
  for (let n = 0; n < 2; n += 1) await enqueued({ rate_limit: { max_per_second: 1 } });
  await fetched();
  expect((await post('/ojs/v1/workers/fetch', { queues: ['default'] })).body.jobs).toEqual([]);
  await clock.advance(1_500);
  await fetched();
});

test('a bad rule or key is refused and leaves no limit behind', async () => {
  const { put, get, raw } = harness();
  const years = { limit: 1, period: 'P36500D' };
  for (const rule of [
    {},
    { concurrency: 0 },
    { rate: 0 },
    { max_per_second: 0 },
    { rate: years },
    { rate: 1, period: 'x' },
  ]) {
    const { status, body } = await put(KEY, rule);
    expect([rule, status, body.error.code]).toEqual([rule, 400, 'invalid_request']);
  }
  expect((await get(KEY)).status).toBe(404);
  for (const key of ['k'.repeat(1_025), 'my%20api', '-a', '%00']) {
    const init = { headers: { 'Content-Type': 'application/json' }, body: '{"concurrency":1}' };
    expect((await raw('PUT', `/ojs/v1/rate-limits/${key}`, init)).body.error.code).toBe('invalid_request');
  }
});
