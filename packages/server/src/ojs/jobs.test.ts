import { newJobId } from '@waybill/core';
import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const JOB = { type: 'email.send', args: ['a@example.com'] };
const UNKNOWN_ID = '019539a4-0000-7000-8000-000000000000';

test('enqueue answers 201 with the whole job and where to find it', async () => {
  const { post, get } = harness();
  const { status, headers, body } = await post('/ojs/v1/jobs', {
    ...JOB,
    meta: { trace_id: 't1' },
    x_custom: { kept: true },
    options: {
      queue: 'mail',
      priority: 7,
      timeout_ms: 60_000,
      tags: ['a'],
      retry: { max_attempts: 5 },
      metadata: { m: 1 },
    },
  });
  expect(status).toBe(201);
  expect(headers.get('location')).toBe(`/ojs/v1/jobs/${body.job.id}`);
  expect(body.job).toMatchObject({
    ...JOB,
    state: 'available',
    queue: 'mail',
    priority: 7,
    attempt: 0,
    max_attempts: 5,
    run: 0,
    meta: { trace_id: 't1' },
    x_custom: { kept: true },
    timeout_ms: 60_000,
    tags: ['a'],
    retry: { max_attempts: 5 },
    options: { metadata: { m: 1 } },
  });
  for (const absent of ['started_at', 'completed_at', 'error', 'errors', 'result', 'lease_token', 'scheduled_at']) {
    expect(body.job).not.toHaveProperty(absent);
  }
  expect((await get(`/ojs/v1/jobs/${body.job.id}`)).body).toEqual(body);
});

test('a repeated idempotency key answers the first job with 200', async () => {
  const { post, get } = harness();
  const first = await post('/ojs/v1/jobs', JOB, { 'Idempotency-Key': 'order-1' });
  const again = await post('/ojs/v1/jobs', JOB, { 'Idempotency-Key': 'order-1' });
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(again.body).toEqual({ ...first.body, deduplicated: true });
  expect((await get('/ojs/v1/jobs')).body.jobs).toHaveLength(1);
});

test('an id given twice is a duplicate', async () => {
  const { post } = harness();
  const id = newJobId(Date.now());
  expect((await post('/ojs/v1/jobs', { ...JOB, id })).body.job.id).toBe(id);
  const { status, body } = await post('/ojs/v1/jobs', { ...JOB, id });
  expect([status, body.error.code, body.error.details.existing_job_id]).toEqual([409, 'duplicate', id]);
});

test('a batch is stored as a whole or not at all', async () => {
  const { post, stored } = harness();
  const before = await stored();
  const refused = await post('/ojs/v1/jobs/batch', { jobs: [JOB, { args: [] }, JOB] });
  expect([refused.status, refused.body.error.details.index]).toEqual([400, 1]);
  expect(await stored()).toBe(before);
  const { status, body } = await post('/ojs/v1/jobs/batch', { jobs: [JOB, { ...JOB, type: 'other.job' }] });
  expect([status, body.count]).toEqual([201, 2]);
  expect(body.jobs.map(({ type }: { type: string }) => type)).toEqual(['email.send', 'other.job']);
});

test('a batch refuses an idempotency key rather than ignoring it', async () => {
  const { post } = harness();
  const { status, body } = await post('/ojs/v1/jobs/batch', { jobs: [JOB] }, { 'Idempotency-Key': 'k' });
  expect([status, body.error.code]).toEqual([422, 'unsupported']);
});

test('a bad retry policy is a validation error that names the field', async () => {
  const { post } = harness();
  const { status, body } = await post('/ojs/v1/jobs', { ...JOB, options: { retry: { max_attempts: -1 } } });
  expect([status, body.error.type, body.error.code]).toEqual([422, 'validation_error', 'validation_error']);
  expect(body.error.message).toContain('max_attempts');
});

test('cancelling ends a job once', async () => {
  const { enqueued, delete: remove, get } = harness();
  const { id } = await enqueued();
  const { status, body } = await remove(`/ojs/v1/jobs/${id}`);
  expect([status, body.job.state]).toEqual([200, 'cancelled']);
  expect(body.job.cancelled_at).toBeDefined();
  expect(body.job).not.toHaveProperty('completed_at');
  expect((await remove(`/ojs/v1/jobs/${id}`)).body.error.code).toBe('conflict');
  expect((await get(`/ojs/v1/jobs/${id}`)).body.job.state).toBe('cancelled');
});

test('an unknown job is not found, with a hint and a link', async () => {
  const { get, delete: remove } = harness();
  for (const { status, body } of [
    await get(`/ojs/v1/jobs/${UNKNOWN_ID}`),
    await remove(`/ojs/v1/jobs/${UNKNOWN_ID}`),
  ]) {
    expect([status, body.error.code, body.error.retryable]).toEqual([404, 'not_found', false]);
    expect(body.error.hint).not.toBe('');
    expect(body.error.docs_url).toMatch(/^http:.*\/ojs\/errors\/not_found$/);
  }
});

test('a pending job waits until it is activated, with or without a body', async () => {
  const { enqueued, post } = harness();
  const { id, state } = await enqueued({ pending: true });
  expect(state).toBe('pending');
  expect((await post('/ojs/v1/workers/fetch', { queues: ['default'] })).body).toEqual({ jobs: [], job: null });
  expect((await post(`/ojs/v1/jobs/${id}/activate`)).body.job.state).toBe('available');
  expect((await post(`/ojs/v1/jobs/${id}/activate`, {})).status).toBe(409);
});

test('scheduled and expiring jobs show their times', async () => {
  const { enqueued } = harness();
  const absolute = await enqueued({ scheduled_at: '2099-12-31T23:59:59Z', expires_at: '2100-01-01T00:00:00+02:00' });
  expect(absolute).toMatchObject({ state: 'scheduled', scheduled_at: '2099-12-31T23:59:59.000Z' });
  expect(absolute.expires_at).toBe('2100-01-01T00:00:00+02:00');
  const relative = await enqueued({ expires_at: '+PT10S' });
  expect(relative.expires_at).toBe('2030-01-01T00:00:10.000Z');
});

test('jobs are listed newest first, filtered and page by page', async () => {
  const { enqueued, get, fetched, clock } = harness();
  const ids: string[] = [];
  for (const queue of ['default', 'other', 'default']) {
    ids.push((await enqueued({ queue })).id);
    await clock.advance(1);
  }
  await fetched();
  const idsOf = async (query: string) =>
    (await get(`/ojs/v1/jobs${query}`)).body.jobs.map(({ id }: { id: string }) => id);
  expect(await idsOf('')).toEqual([...ids].reverse());
  expect(await idsOf('?state=active')).toEqual([ids[0]]);
  expect(await idsOf('?queue=other')).toEqual([ids[1]]);
  expect(await idsOf('?type=no.such')).toEqual([]);
  const { body } = await get('/ojs/v1/jobs?limit=2');
  expect(body.pagination).toMatchObject({ limit: 2, has_more: true });
  expect(await idsOf(`?limit=2&cursor=${body.pagination.cursor}`)).toEqual([ids[0]]);
});

test('a uniqueness rule says what a second job comes to', async () => {
  const { post, get } = harness();
  const send = (on_conflict: string, args: unknown[] = [1]) =>
    post('/ojs/v1/jobs', { ...JOB, args, options: { unique: { keys: ['args'], on_conflict } } });
  const first = await send('reject');
  expect(first.body.job.options).toEqual({ unique: { keys: ['args'], on_conflict: 'reject' } });
  const rejected = await send('reject');
  expect([rejected.status, rejected.body.error.code]).toEqual([409, 'duplicate']);
  expect(rejected.body.error.details.existing_job_id).toBe(first.body.job.id);
  const ignored = await send('ignore');
  expect([ignored.status, ignored.body]).toEqual([200, { ...first.body, deduplicated: true }]);
  expect(ignored.headers.get('location')).toBeNull();
  const replaced = await send('replace');
  expect([replaced.status, replaced.body.job.id === first.body.job.id]).toEqual([201, false]);
  expect((await get(`/ojs/v1/jobs/${first.body.job.id}`)).body.job.state).toBe('cancelled');
  expect((await send('reject', [2])).status).toBe(201);
});

test('jobs are listed by everything that a filter knows', async () => {
  const { get, enqueued, post, clock } = harness();
  const { id: early } = await enqueued();
  await post('/ojs/v1/workers/fetch', { queues: ['default'] });
  await post('/ojs/v1/workers/nack', { job_id: early, outcome: 'discarded', dead_letter: true, error: { code: 'e1' } });
  await clock.advance(60_000);
  const { workflow } = (await post('/ojs/v1/workflows', { nodes: [{ id: 'a', type: 'a.b', args: [] }] })).body;
  const ids = async (query: string) =>
    (await get(`/ojs/v1/jobs?${query}`)).body.jobs.map(({ id }: { id: string }) => id);
  const [node] = await ids(`workflow_id=${workflow.id}`);
  expect(node).toBeTypeOf('string');
  for (const query of ['dead_letter=true', 'error_type=e1', 'created_before=2030-01-01T00:00:30Z', 'state=discarded'])
    expect([query, await ids(query)]).toEqual([query, [early]]);
  for (const query of ['dead_letter=false', 'created_after=2030-01-01T00:00:30Z'])
    expect([query, await ids(query)]).toEqual([query, [node]]);
  expect(await ids('finished_after=2030-01-01T00:00:30Z')).toEqual([]);
  expect(await ids('finished_before=2030-01-01T00:00:30Z')).toEqual([early]);
});

test('whoever cancels a job may say who and why', async () => {
  const { enqueued, delete: remove, get } = harness();
  const { id } = await enqueued();
  await remove(`/ojs/v1/jobs/${id}?by=ada&reason=not%20needed`);
  const { events } = (await get(`/ojs/v1/events?job_id=${id}&types=job.cancelled`)).body;
  expect(events[0].data).toMatchObject({ cancelled_by: 'ada', reason: 'not needed' });
  for (const query of ['why=x', 'by=', `reason=${'x'.repeat(1_025)}`])
    expect((await remove(`/ojs/v1/jobs/${id}?${query}`)).status).toBe(400);
});
