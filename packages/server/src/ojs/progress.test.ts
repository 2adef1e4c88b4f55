import { describe, expect, it } from 'vitest';
import { harness } from '../testing/harness.ts';

async function running() {
  const made = harness();
  await made.enqueued();
  const { id, lease_token } = await made.fetched();
  return { ...made, id, lease_token, where: `/ojs/v1/jobs/${id}/progress` };
}

describe('progress', () => {
  it('is null before anything was reported, and 404 for a job that is not there', async () => {
    const { get, where, id } = await running();
    const { status, body } = await get(where);
    expect(status).toBe(200);
    expect(body).toEqual({ job_id: id, state: 'active', progress: null, data: null, updated_at: null });
    expect((await get('/ojs/v1/jobs/01900000-0000-7000-8000-000000000000/progress')).status).toBe(404);
  });

  it('is clamped, never goes back, and answers what is known', async () => {
    const { put, get, where, lease_token } = await running();
    await put(where, { progress: 0.47, data: { rows: 14 }, lease_token });
    const { body } = await put(where, { progress: 0.2, lease_token });
    expect(body).toMatchObject({ progress: 0.47, data: { rows: 14 }, run: 1, number: 2 });
    await put(where, { progress: 1.3 });
    const { headers, body: last } = await get(where);
    expect(last.progress).toBe(1);
    expect(headers.get('x-ojs-progress')).toBe('1');
    expect(headers.get('cache-control')).toBe('no-cache');
  });

  it('of a completed job is 1, of a failed one what it was', async () => {
    const { put, post, get, where, id, lease_token } = await running();
    await put(where, { progress: 0.87, lease_token });
    await post('/ojs/v1/workers/ack', { job_id: id, lease_token });
    expect((await get(where)).body).toMatchObject({ state: 'completed', progress: 1 });

    const other = await running();
    await other.put(other.where, { progress: 0.73, lease_token: other.lease_token });
    const failure = { job_id: other.id, lease_token: other.lease_token, error: { message: 'No.' } };
    await other.post('/ojs/v1/workers/nack', failure);
    expect((await other.get(other.where)).body).toMatchObject({ state: 'retryable', progress: 0.73 });
  });

  // fault: a report comes after the run was acknowledged
  it('guarantee 3: a stale token is refused; a late word without one is ignored, as the specification has it', async () => {
    const { put, post, where, id, lease_token } = await running();
    await post('/ojs/v1/workers/ack', { job_id: id, lease_token });
    const late = await put(where, { progress: 0.5, lease_token });
    expect([late.status, late.body.error.code]).toEqual([409, 'lease_lost']);
    const ignored = await put(where, { progress: 0.5 });
    expect([ignored.status, ignored.body.progress]).toEqual([200, null]);
  });

  it('hands a checkpoint to the next run', async () => {
    const { put, post, fetched, where, id, lease_token, clock } = await running();
    await put(where, { checkpoint: { offset: 14_000 }, lease_token });
    await post('/ojs/v1/workers/nack', { job_id: id, lease_token, error: { message: 'No.' } });
    await clock.advance(86_400_000);
    expect(await fetched()).toMatchObject({ id, run: 2, last_checkpoint: { offset: 14_000 } });
  });

  it.each([
    ['nothing to report', {}],
    ['a text for a number', { progress: '0.5' }],
    ['a list for data', { data: [] }],
    ['a count of zero', { progress: 1, number: 0 }],
  ])('refuses %s', async (_, body) => {
    const { put, where, stored } = await running();
    const before = await stored();
    expect((await put(where, body)).status).toBe(400);
    expect(await stored()).toBe(before);
  });

  it('streams each report and the end, then closes', async () => {
    const { app, put, post, where, id, lease_token } = await running();
    await put(where, { progress: 0.5, data: { rows: 1 }, lease_token });
    const response = await app.request(`${where}/stream`);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const all = response.text();
    await put(where, { progress: 0.75, lease_token });
    await post('/ojs/v1/workers/ack', { job_id: id, lease_token });
    const messages = (await all).split('\n\n').filter((text) => text.includes('event:'));
    const told = messages.map((text) => [/event: (.*)/.exec(text)![1], JSON.parse(/data: (.*)/.exec(text)![1]!)]);
    const updated_at = expect.any(String);
    expect(told).toEqual([
      ['progress', { progress: 0.5, data: { rows: 1 }, updated_at }],
      ['progress', { progress: 0.75, data: { rows: 1 }, updated_at }],
      ['completed', { progress: 1, state: 'completed', updated_at }],
    ]);
  });
});

describe('keep', () => {
  it('none: completed jobs leave nothing behind', async () => {
    const { put, post, get, enqueued, fetched } = harness();
    const { body } = await put('/ojs/v1/queues/default/keep', { keep: 'none' });
    expect(body.queue).toMatchObject({ name: 'default', keep: 'none' });
    await enqueued();
    const { id, lease_token } = await fetched();
    expect((await post('/ojs/v1/workers/ack', { job_id: id, lease_token })).status).toBe(200);
    expect((await get(`/ojs/v1/jobs/${id}`)).status).toBe(404);
    const told = (await get('/ojs/v1/events')).body.events.map(({ type }: { type: string }) => type);
    expect(told).toEqual(['queue.keep_changed']);
    expect((await put('/ojs/v1/queues/default/keep', { keep: 'some' })).status).toBe(400);
    expect((await put('/ojs/v1/queues/default/keep', {})).status).toBe(400);
  });
});

it('C9: a stream that is to go on behind a cursor that is none is refused before it begins', async () => {
  const { app, enqueued, log } = harness();
  const { id } = await enqueued();
  const headers = { accept: 'text/event-stream', 'last-event-id': 'no-cursor-of-ours' };
  const response = await app.request(`/ojs/v1/jobs/${id}/progress/stream`, { headers });
  expect([response.status, response.headers.get('content-type')]).toEqual([400, 'application/openjobspec+json']);
  expect(await response.text()).not.toContain('no-cursor-of-ours');
  expect(log).toEqual([]);
});
