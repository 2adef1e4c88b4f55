import { describe, expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const ERROR = { code: 'handler_error', message: 'no luck' };

test('fetch gives active jobs with a lease token, and an empty list when there is no work', async () => {
  const { enqueued, post } = harness();
  const { id } = await enqueued();
  const { body } = await post('/ojs/v1/workers/fetch', { queues: ['default'], worker_id: 'w1', count: 10 });
  expect(body.jobs).toHaveLength(1);
  expect(body.job).toEqual(body.jobs[0]);
  expect(body.job).toMatchObject({ id, state: 'active', attempt: 1, run: 1 });
  expect(body.job.lease_token).toEqual(expect.any(String));
  expect((await post('/ojs/v1/workers/fetch', { queues: ['default'] })).body).toEqual({ jobs: [], job: null });
});

test('the lease token is told to nobody but the worker that fetched', async () => {
  const { enqueued, fetched, get } = harness();
  const { id } = await enqueued();
  await fetched();
  expect((await get(`/ojs/v1/jobs/${id}`)).body.job).not.toHaveProperty('lease_token');
});

test('a fetch repeated under its claim id answers the same jobs', async () => {
  const { enqueued, fetched } = harness();
  await enqueued();
  await enqueued();
  const first = await fetched({ claim_id: 'claim-0001' });
  const again = await fetched({ claim_id: 'claim-0001' });
  expect([again.id, again.lease_token]).toEqual([first.id, first.lease_token]);
});

test('a long poll answers as soon as a job comes', async () => {
  const { enqueued, fetched, clock } = harness({ maintenance: false });
  const waiting = fetched({ wait_ms: 30_000 });
  await clock.whenSleeping();
  const { id } = await enqueued();
  expect((await waiting).id).toBe(id);
});

test('a long poll ends when the client or the server goes away, and takes no job with it', async () => {
  for (const who of ['client', 'server'] as const) {
    const { app, clock, enqueued, get } = harness({ maintenance: false });
    const leaving = new AbortController();
    const init = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ queues: ['default'], wait_ms: 30_000 }),
      ...(who === 'client' && { signal: leaving.signal }),
    };
    const waiting = app.request('/ojs/v1/workers/fetch', init, who === 'server' ? { closing: leaving.signal } : {});
    await clock.whenSleeping();
    leaving.abort();
    expect(await (await waiting).json()).toEqual({ jobs: [], job: null });
    const { id } = await enqueued();
    expect((await get(`/ojs/v1/jobs/${id}`)).body.job.state).toBe('available');
  }
});

test('jobs that were claimed for a client that hung up go back at once', async () => {
  const { app, clock, waybill, enqueued, get } = harness();
  const leaving = new AbortController();
  const { claim } = waybill.jobs;
  waybill.jobs.claim = async (call) => {
    await enqueued();
    leaving.abort();
    return claim({ ...call, waitMs: 0 });
  };
  const response = await app.request('/ojs/v1/workers/fetch', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ queues: ['default'], wait_ms: 1_000 }),
    signal: leaving.signal,
  });
  expect(await response.json()).toEqual({ jobs: [], job: null });
  await clock.advance(0);
  const { jobs } = (await get('/ojs/v1/jobs')).body;
  expect(jobs.map(({ state, attempt }: { state: string; attempt: number }) => [state, attempt])).toEqual([
    ['available', 0],
  ]);
});

test('ack completes the job and answers in the words of the specification and of the suites', async () => {
  const { enqueued, fetched, post, get } = harness();
  const { id } = await enqueued();
  const { lease_token } = await fetched();
  const { status, body } = await post('/ojs/v1/workers/ack', { job_id: id, lease_token, result: { sent: [1, null] } });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    acknowledged: true,
    job_id: id,
    id,
    state: 'completed',
    job: { id, state: 'completed' },
  });
  expect(body.completed_at).toBe(body.job.completed_at);
  expect((await get(`/ojs/v1/jobs/${id}`)).body.job.result).toEqual({ sent: [1, null] });
});

test('an ack repeated with its token has the effect of one; without a token it is a conflict', async () => {
  const { enqueued, fetched, post, stored } = harness();
  const { id } = await enqueued();
  const { lease_token } = await fetched();
  const first = await post('/ojs/v1/workers/ack', { job_id: id, lease_token, result: 1 });
  const after = await stored();
  const again = await post('/ojs/v1/workers/ack', { job_id: id, lease_token, result: 1 });
  expect([again.status, again.body]).toEqual([200, first.body]);
  const bare = await post('/ojs/v1/workers/ack', { job_id: id });
  expect([bare.status, bare.body.error.code, bare.body.error.retryable]).toEqual([409, 'conflict', false]);
  expect(await stored()).toBe(after);
});

test('what a worker says after its lease ran out is refused and changes nothing', async () => {
  const { enqueued, fetched, post, stored, clock } = harness();
  const { id } = await enqueued();
  const stale = await fetched({ worker_id: 'w1', visibility_timeout_ms: 1_000 });
  await clock.advance(5_000);
  const live = await fetched({ worker_id: 'w2' });
  expect([live.id, live.run]).toEqual([id, 2]);
  const before = await stored();
  const run = { job_id: id, lease_token: stale.lease_token };
  for (const { status, body } of [
    await post('/ojs/v1/workers/ack', { ...run, result: 'late' }),
    await post('/ojs/v1/workers/nack', { ...run, error: ERROR }),
    await post('/ojs/v1/workers/nack', { ...run, requeue: true }),
    await post('/ojs/v1/workers/ack', { job_id: id, worker_id: 'w1' }),
    await post('/ojs/v1/workers/ack', { job_id: id, lease_token: 'made up' }),
  ]) {
    expect([status, body.error.code]).toEqual([409, 'lease_lost']);
  }
  expect(await stored()).toBe(before);
  expect((await post('/ojs/v1/workers/ack', { job_id: id, lease_token: live.lease_token })).status).toBe(200);
});

test('nack tells whether and when the job runs again', async () => {
  const { enqueued, fetched, post } = harness();
  const { id } = await enqueued({ retry: { max_attempts: 2, jitter: false } });
  const { lease_token } = await fetched();
  const details = { error_class: 'SmtpError', host: 'mail' };
  const { body } = await post('/ojs/v1/workers/nack', { job_id: id, lease_token, error: { ...ERROR, details } });
  expect(body).toMatchObject({
    job_id: id,
    id,
    state: 'retryable',
    attempt: 1,
    max_attempts: 2,
    retry_delay_ms: 1_000,
  });
  expect(body.next_attempt_at).toBe('2030-01-01T00:00:01.000Z');
  expect(body.job.error).toMatchObject({ ...ERROR, type: 'SmtpError', details, attempt: 1 });
  expect(body.job.errors).toEqual([body.job.error]);
});

test('nack of the last attempt discards the job', async () => {
  const { enqueued, fetched, post } = harness();
  const { id } = await enqueued({ retry: { max_attempts: 1 } });
  await fetched();
  const { body } = await post('/ojs/v1/workers/nack', { job_id: id });
  expect(body).toMatchObject({
    state: 'discarded',
    attempt: 1,
    job: { error: { code: 'handler_error', message: '' } },
  });
  expect(body.completed_at).toBe(body.discarded_at);
  expect(body).not.toHaveProperty('retry_delay_ms');
});

test('a class in the details counts for the retry policy', async () => {
  const { enqueued, fetched, post } = harness();
  const { id } = await enqueued({ retry: { non_retryable_errors: ['Auth.*'] } });
  await fetched();
  const error = { ...ERROR, details: { error_class: 'Auth.Expired' } };
  expect((await post('/ojs/v1/workers/nack', { job_id: id, error })).body.state).toBe('discarded');
});

test('requeue gives the job back without using up an attempt', async () => {
  const { enqueued, fetched, post } = harness();
  const { id } = await enqueued();
  await fetched();
  const { body } = await post('/ojs/v1/workers/nack', {
    job_id: id,
    requeue: true,
    error: { ...ERROR, retryable: false },
  });
  expect([body.state, body.attempt]).toEqual(['available', 0]);
});

test('an endless error message is cut, not refused', async () => {
  const { enqueued, fetched, post } = harness();
  const { id } = await enqueued();
  await fetched();
  const { status, body } = await post('/ojs/v1/workers/nack', { job_id: id, error: { message: 'x'.repeat(200_000) } });
  expect([status, body.job.error.message.length]).toEqual([200, 10_000]);
});

test('a server that requires leases names the field that is missing', async () => {
  const { enqueued, fetched, post } = harness({ requireLease: true });
  const { id } = await enqueued();
  const { lease_token } = await fetched();
  for (const call of ['ack', 'nack']) {
    const { status, body } = await post(`/ojs/v1/workers/${call}`, { job_id: id, worker_id: 'w1' });
    expect([status, body.error.code, body.error.details.field]).toEqual([400, 'invalid_request', 'lease_token']);
  }
  expect((await post('/ojs/v1/workers/ack', { job_id: id, lease_token })).status).toBe(200);
});

describe('nack can say what else a run came to', () => {
  const settled = async (outcome: object, options: object = {}) => {
    const server = harness();
    const { id } = await server.enqueued(options);
    const { lease_token } = await server.fetched();
    return (await server.post('/ojs/v1/workers/nack', { job_id: id, lease_token, ...outcome })).body;
  };

  test('snoozed: again at that time, and no attempt is used up', async () => {
    const snooze_until = '2030-01-02T00:00:00.000Z';
    const body = await settled({ outcome: 'snoozed', snooze_until });
    expect(body).toMatchObject({ state: 'retryable', attempt: 0, next_attempt_at: snooze_until });
    expect(body.job).not.toHaveProperty('error');
  });

  test('D10: snoozed for a reason, which stays on the job; the server says when', async () => {
    const error = { code: 'unknown_type', message: "Worker w has no task 'mail.sned'." };
    const body = await settled({ outcome: 'snoozed', error });
    expect(body).toMatchObject({ state: 'retryable', attempt: 0, retry_delay_ms: 5_000 });
    expect(body.job).toMatchObject({ state: 'retryable', error, errors: [error] });
  });

  test('cancelled', async () => {
    const body = await settled({ outcome: 'cancelled', reason: 'no longer needed' });
    expect(body).toMatchObject({ state: 'cancelled', job: { cancelled_at: '2030-01-01T00:00:00.000Z' } });
  });

  test('discarded, and whether it is kept', async () => {
    const error = { code: 'hopeless', message: 'x' };
    const discarded = { outcome: 'discarded', error };
    expect(await settled(discarded)).toMatchObject({ state: 'discarded', job: { error } });
    expect((await settled({ ...discarded, dead_letter: true })).job.dead_letter).toBe(true);
    const keeps = { retry: { on_exhaustion: 'dead_letter' } };
    expect((await settled(discarded, keeps)).job.dead_letter).toBe(true);
    expect((await settled({ ...discarded, dead_letter: false }, keeps)).job).not.toHaveProperty('dead_letter');
  });
});

test('workers are listed and told what to do', async () => {
  const { get, post } = harness();
  expect((await get('/ojs/v1/workers')).body).toEqual({ workers: [] });
  await post('/ojs/v1/workers/heartbeat', { worker_id: 'w 1/ä' });
  const path = `/ojs/v1/workers/${encodeURIComponent('w 1/ä')}/directive`;
  const { body } = await post(path, { directive: 'quiet' });
  expect(body.worker).toMatchObject({ id: 'w 1/ä', active_jobs: 0, directive: 'quiet' });
  expect((await get('/ojs/v1/workers')).body).toEqual({ workers: [body.worker] });
  expect((await post('/ojs/v1/workers/heartbeat', { worker_id: 'w 1/ä' })).body.directive).toBe('quiet');
  expect((await post('/ojs/v1/workers/nobody/directive', { directive: 'quiet' })).status).toBe(404);
  for (const id of ['%00', 'x'.repeat(257)]) {
    expect((await post(`/ojs/v1/workers/${id}/directive`, { directive: 'quiet' })).status).toBe(400);
  }
});

test('whoever holds a job sees until when', async () => {
  const { enqueued, fetched, post, get } = harness();
  const { id } = await enqueued();
  const run = await fetched({ worker_id: 'w1', visibility_timeout_ms: 1_000 });
  const held = { worker_id: 'w1', lease_ms: 1_000, lease_expires_at: '2030-01-01T00:00:01.000Z' };
  expect(run).toMatchObject(held);
  const active_jobs = [{ id, lease_token: run.lease_token }];
  const beat = await post('/ojs/v1/workers/heartbeat', { worker_id: 'w1', active_jobs, visibility_timeout_ms: 2_000 });
  expect(beat.body.leases).toEqual([{ id, expires_at: '2030-01-01T00:00:02.000Z' }]);
  await post('/ojs/v1/workers/ack', { job_id: id, lease_token: run.lease_token });
  for (const name of Object.keys(held)) expect((await get(`/ojs/v1/jobs/${id}`)).body.job).not.toHaveProperty(name);
});
