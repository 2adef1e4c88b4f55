import { WaybillError } from '@waybill/core';
import { expect, test } from 'vitest';
import type { Asking } from './http/port.ts';
import { harness } from './testing/harness.ts';

const JOB = { type: 'test.job', args: [], options: { queue: 'mails' } };

/** Who comes with which key, as a server with keys would know it. */
const KEYS = {
  worker: { id: 'worker', tenant: 'acme', scopes: ['work'], queues: ['mails'] },
  reader: { id: 'reader', tenant: 'acme', scopes: ['read'] },
  operator: { id: 'operator', tenant: '*', scopes: ['admin'] },
} as const;

async function principal(asking: Asking) {
  const key = asking.header('Authorization') as keyof typeof KEYS | undefined;
  if (key === undefined) throw new WaybillError('unauthenticated', 'Who are you?');
  return KEYS[key];
}

const as = (Authorization: keyof typeof KEYS) => ({ Authorization });

test('a request gets the port of whoever sends it', async () => {
  const server = harness({ principal });
  const { job } = await server.waybill.jobs.enqueue(JOB, { tenant: 'acme' });
  const statusOf = async (path: string, key: keyof typeof KEYS) => (await server.get(path, as(key))).status;
  expect(await statusOf(`/ojs/v1/jobs/${job.id}`, 'reader')).toBe(200);
  expect(await statusOf(`/ojs/v1/jobs/${job.id}`, 'worker')).toBe(403);
  expect(await statusOf(`/ojs/v1/jobs/${job.id}`, 'operator')).toBe(404);
  expect((await server.post('/ojs/v1/jobs', JOB, as('reader'))).body.error.code).toBe('forbidden');
  expect((await server.get('/ojs/v1/jobs')).status).toBe(401);
  expect((await server.get('/ojs/v1/health')).status).toBe(200);
});

test('a worker’s key is enough for a worker, in its queues', async () => {
  const server = harness({ principal });
  const { job } = await server.waybill.jobs.enqueue(JOB, { tenant: 'acme' });
  const send = (what: string, body: object) => server.post(`/ojs/v1/workers/${what}`, body, as('worker'));
  expect((await send('fetch', { queues: ['mails', 'other'] })).status).toBe(403);
  const { body } = await send('fetch', { queues: ['mails'], worker_id: 'w' });
  const held = { lease_token: body.jobs[0].lease_token };
  const reported = await server.raw('PUT', `/ojs/v1/jobs/${job.id}/progress`, {
    headers: { ...as('worker'), 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...held, progress: 0.5 }),
  });
  expect([reported.status, reported.body]).toMatchObject([200, { state: 'active', progress: 0.5 }]);
  const beat = await send('heartbeat', { worker_id: 'w', active_jobs: [{ id: job.id, ...held }] });
  expect(beat.body).toMatchObject({ jobs_extended: [job.id], jobs_lost: [] });
  expect((await send('ack', { job_id: job.id, ...held })).body.job.state).toBe('completed');
});

test('a stream that may not be read is refused before it begins', async () => {
  const { app } = harness({ principal });
  const headers = { ...as('worker'), Accept: 'text/event-stream' };
  expect((await app.request('/ojs/v1/events', { headers })).status).toBe(403);
});
