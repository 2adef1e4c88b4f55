import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const UNKNOWN_ID = '019539a4-0000-7000-8000-000000000000';

test('a heartbeat extends what the worker holds and lists what it has lost', async () => {
  const { enqueued, fetched, post, clock } = harness();
  const ids = [(await enqueued()).id, (await enqueued()).id];
  const lost = await fetched({ worker_id: 'w1', visibility_timeout_ms: 1_000 });
  const kept = await fetched({ worker_id: 'w1', visibility_timeout_ms: 60_000 });
  await clock.advance(5_000);
  const { status, body } = await post('/ojs/v1/workers/heartbeat', {
    worker_id: 'w1',
    active_jobs: [
      { id: lost.id, lease_token: lost.lease_token },
      kept.id,
      UNKNOWN_ID,
      { id: kept.id, lease_token: '?' },
    ],
  });
  expect([lost.id, kept.id]).toEqual(ids);
  expect(status).toBe(200);
  expect(body).toMatchObject({ state: 'running', directive: 'running', server_time: '2030-01-01T00:00:05.000Z' });
  expect(body.jobs_extended).toEqual([kept.id]);
  expect(body.jobs_lost).toEqual([lost.id, UNKNOWN_ID]);
});

test('a heartbeat keeps a job from being given away', async () => {
  const { enqueued, fetched, post, get, clock } = harness();
  const { id } = await enqueued({ visibility_timeout_ms: 3_000 });
  await fetched({ worker_id: 'w1' });
  for (let beat = 0; beat < 3; beat += 1) {
    await clock.advance(2_000);
    await post('/ojs/v1/workers/heartbeat', { worker_id: 'w1', active_jobs: [id] });
  }
  expect((await get(`/ojs/v1/jobs/${id}`)).body.job.state).toBe('active');
});

test('a worker hears what it was told to do', async () => {
  const { waybill, post } = harness();
  expect((await post('/ojs/v1/workers/heartbeat', { worker_id: 'w1' })).body.state).toBe('running');
  await waybill.workers.direct('w1', 'quiet');
  expect((await post('/ojs/v1/workers/heartbeat', { worker_id: 'w1' })).body.state).toBe('quiet');
});

test('A14: a worker that names its instance does not hear what an earlier one was told', async () => {
  const { waybill, post } = harness();
  const beat = async (instance: unknown) =>
    (await post('/ojs/v1/workers/heartbeat', { worker_id: 'w1', instance })).body;
  await beat('first');
  await waybill.workers.direct('w1', 'terminate');
  expect([(await beat('first')).directive, (await beat('second')).directive]).toEqual(['terminate', 'running']);
  expect([(await beat('')).error.code, (await beat(1)).error.code]).toEqual(['invalid_request', 'invalid_request']);
});

test('a test directive steers a worker only where that was asked for', async () => {
  for (const testDirectives of [true, false]) {
    const { enqueued, fetched, post, get } = harness({ testDirectives });
    const { id } = await enqueued({ metadata: { test_directive: 'terminate' } });
    await fetched({ worker_id: 'w1' });
    const { body } = await post('/ojs/v1/workers/heartbeat', { worker_id: 'w1', active_jobs: [id] });
    expect(body.state).toBe(testDirectives ? 'terminate' : 'running');
    expect((await get('/ojs/manifest')).body.extensions.includes('waybill.test_directive')).toBe(testDirectives);
  }
});
