import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

// The requests are those that public clients of the specification send, the answers what they read.

const JOB = { type: 'email.send', args: [{ to: 'a@example.com', template: 'welcome' }] };

test('C1: a heartbeat of the worker protocol names its jobs by active_job_ids, and active_jobs is their number', async () => {
  const { enqueued, fetched, post, get, clock } = harness();
  const { id } = await enqueued({ visibility_timeout_ms: 3_000 });
  await fetched({ worker_id: 'w1' });
  const state = { state: 'running', hostname: 'h', pid: 7, queues: ['default'], concurrency: 5, labels: [] };
  for (let beat = 0; beat < 3; beat += 1) {
    await clock.advance(2_000);
    const sent = { worker_id: 'w1', ...state, active_jobs: 1, active_job_ids: [id] };
    const { status, body } = await post('/ojs/v1/workers/heartbeat', sent);
    expect([status, body.state, body.jobs_extended]).toEqual([200, 'running', [id]]);
  }
  expect((await get(`/ojs/v1/jobs/${id}`)).body.job.state).toBe('active');
});

test('C1: ids alone count, and a job in both lists counts once, with its token', async () => {
  const { enqueued, fetched, post } = harness();
  await enqueued();
  const { id, lease_token } = await fetched({ worker_id: 'w1' });
  const beat = async (jobs: object) => (await post('/ojs/v1/workers/heartbeat', { worker_id: 'w1', ...jobs })).body;
  expect((await beat({ active_job_ids: [id] })).jobs_extended).toEqual([id]);
  const both = await beat({ active_jobs: [{ id, lease_token: `${lease_token}x` }], active_job_ids: [id] });
  expect([both.jobs_extended, both.jobs_lost]).toEqual([[], [id]]);
  const bad = await post('/ojs/v1/workers/heartbeat', { worker_id: 'w1', active_job_ids: [id, 'x'] });
  expect([bad.status, bad.body.error.details.field]).toEqual([400, 'active_job_ids[1]']);
});

test('C2: a job with unique.key is told from one with other arguments', async () => {
  const { post } = harness();
  const send = async (to: string, unique: object) =>
    (await post('/ojs/v1/jobs', { ...JOB, args: [{ to }], options: { unique } })).status;
  const byTo = { key: ['to'], period_ms: 60_000, on_conflict: 'ignore' };
  expect([await send('a', byTo), await send('b', byTo), await send('a', byTo)]).toEqual([201, 201, 200]);
  const whole = { key: ['type', 'queue', 'args'], states: ['available'], on_conflict: 'reject' };
  expect([await send('c', whole), await send('d', whole), await send('c', whole)]).toEqual([201, 201, 409]);
});

test('C3: a misspelt field of a policy is refused, with the one that was meant', async () => {
  const { post, stored } = harness();
  const before = await stored();
  for (const [options, status, hint] of [
    [{ unique: { on_conflct: 'ignore' } }, 400, "Did you mean 'on_conflict'?"],
    [{ retry: { max_attempt: 3 } }, 422, "Did you mean 'max_attempts'?"],
    [{ rate_limit: { key: 'a', concurency: 3 } }, 400, "Did you mean 'concurrency'?"],
  ] as const) {
    const answer = await post('/ojs/v1/jobs', { ...JOB, options });
    expect([answer.status, answer.body.error.message]).toEqual([status, expect.stringContaining(hint)]);
  }
  expect(await stored()).toBe(before);
});

test('C8: a job says its version, when it is tried again and when it failed, in the words of the texts', async () => {
  const { post, fetched, get } = harness();
  const sent = {
    ...JOB,
    specversion: '1.0',
    timeout: 30,
    options: { retry: { initial_interval_ms: 2_000, jitter: false } },
  };
  const { status, body } = await post('/ojs/v1/jobs', sent);
  expect([status, body.job.specversion, body.job.timeout_ms]).toEqual([201, '1.0', 30_000]);
  const { id, lease_token } = await fetched();
  await post('/ojs/v1/workers/nack', { job_id: id, lease_token, error: { code: 'handler_error', message: 'no' } });
  const { job } = (await get(`/ojs/v1/jobs/${id}`)).body;
  expect(job).toMatchObject({ next_retry_at: '2030-01-01T00:00:02.000Z', next_attempt_at: job.next_retry_at });
  expect(job.errors[0]).toMatchObject({ timestamp: '2030-01-01T00:00:00.000Z', occurred_at: job.errors[0].timestamp });
  const other = await post('/ojs/v1/jobs', { ...JOB, specversion: '2.0' });
  expect([other.status, other.body.error.details.field]).toEqual([400, 'specversion']);
});

test.each([
  ['DISCARD', 'discarded', undefined],
  ['FAIL', 'discarded', undefined],
  ['DEAD_LETTER', 'discarded', true],
  ['RETRY', 'retryable', undefined],
])('C8: a handler that answers %s decides about its job', async (code, state, kept) => {
  const { enqueued, fetched, post } = harness();
  await enqueued({ retry: { max_attempts: 9 } });
  const { id, lease_token } = await fetched();
  const error = { type: 'payment.declined', message: 'no', code };
  const { body } = await post('/ojs/v1/workers/nack', { job_id: id, lease_token, error });
  expect([body.state, body.job.dead_letter]).toEqual([state, kept]);
});

test('C8: a uniqueness rule that ignores says so', async () => {
  const { post } = harness();
  const send = () => post('/ojs/v1/jobs', { ...JOB, options: { unique: { keys: ['args'], on_conflict: 'ignore' } } });
  const { body: first } = await send();
  expect(first).not.toHaveProperty('deduplicated');
  expect((await send()).body).toMatchObject({ job: { id: first.job.id }, deduplicated: true });
});
