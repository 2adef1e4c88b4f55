import { WaybillError } from '@waybill/core';
import { expect, test } from 'vitest';
import type { Asking } from './http/port.ts';
import { harness } from './testing/harness.ts';
import { rpcHarness } from './testing/rpc-harness.ts';

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
  expect((await server.get('/ojs/v1/health')).status).toBe(401);
  expect(await statusOf('/ojs/v1/health', 'reader')).toBe(200);
  expect(await statusOf('/ojs/v1/health', 'worker')).toBe(403);
  expect((await server.get('/health')).body).toEqual({ status: 'ok' });
});

test('a producer that may not read is shown no content of jobs of others, by a batch over HTTP and over gRPC', async () => {
  const producer = { id: 'producer', tenant: 'acme', scopes: ['enqueue'] } as const;
  const server = await rpcHarness({ principal: async () => producer });
  const unique = { keys: ['type', 'args'], on_conflict: 'ignore', states: ['completed'] };
  const request = { type: 'bill.make', args: ['ibis'], options: { unique } };
  const { job } = await server.waybill.jobs.enqueue({ ...request, meta: { user: 'ada' } }, { tenant: 'acme' });
  const [lease] = await server.waybill.jobs.claim({ queues: ['default'], tenant: 'acme' });
  const outcome = { kind: 'completed', result: { iban: 'CH93' } } as const;
  await server.waybill.jobs.settle({ id: job.id, tenant: 'acme', leaseToken: lease!.token, outcome });

  const { status, body } = await server.post('/ojs/v1/jobs/batch', { jobs: [request] });
  expect([status, body.jobs[0].id]).toEqual([201, job.id]);
  const [found] = await server.client.jobs.enqueueMany([request]);
  expect(found!.id).toBe(job.id);
  expect(JSON.stringify([body, found])).not.toMatch(/ada|CH93|ibis/);
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

test('an operator names the tenant by the header; whoever belongs to one may name no other', async () => {
  const server = harness({ principal });
  const enqueued = async (key: keyof typeof KEYS, tenant: string) =>
    server.post('/ojs/v1/jobs', JOB, { ...as(key), 'X-OJS-Tenant': tenant });
  const { status, body } = await enqueued('operator', 'beta');
  expect([status, (await server.waybill.jobs.get(body.job.id, { tenant: 'beta' })).tenant]).toEqual([201, 'beta']);
  const get = (key: keyof typeof KEYS, tenant: string) =>
    server.get('/ojs/v1/jobs', { ...as(key), 'X-OJS-Tenant': tenant });
  expect((await get('reader', 'acme')).status).toBe(200);
  expect((await get('reader', 'beta')).body.error.code).toBe('forbidden');
  for (const key of ['reader', 'operator'] as const) expect((await get(key, 'a b')).status).toBe(400);
});

test('a mistake of whoever sets the server up lets nobody in', async () => {
  expect(() => harness({ auths: principal } as never)).toThrow("no option 'auths'. Did you mean 'auth'?");
  const { get } = harness({ principal: (() => undefined) as never });
  expect((await get('/ojs/v1/jobs')).status).toBe(401);
});

test('where callers must say who they are, health tells nobody what maintenance fails on', async () => {
  const items = [
    { kind: 'cron', tenant: 'beta', id: 'secret', reason: 'no', failures: 1, since: 0, nextTryAt: 0 },
  ] as const;
  const failing = { status: 'failing', failing: 1, items } as const;
  const healthOf = async (options: object) => {
    const server = harness();
    const health = { ...(await server.waybill.health()), maintenance: failing };
    const { get } = harness({ ...options, waybill: { ...server.waybill, health: async () => health } });
    return [(await get('/health')).body.maintenance, (await get('/ready')).body.maintenance];
  };
  expect(await healthOf({ principal })).toEqual([undefined, undefined]);
  for (const told of await healthOf({})) expect(told).toMatchObject({ failing: 1, items: [{ id: 'secret' }] });
});

test('a job that says it belongs to another tenant than its request is refused; without a tenant it may say anything', async () => {
  const { post, get } = harness();
  const job = { ...JOB, meta: { tenant_id: 'beta' } };
  const acme = { 'X-OJS-Tenant': 'acme' };
  const refused = await post('/ojs/v1/jobs', job, acme);
  expect([refused.status, refused.body.error.details.field]).toEqual([400, 'meta.tenant_id']);
  const many = await post('/ojs/v1/jobs/batch', { jobs: [JOB, job] }, acme);
  expect([many.status, many.body.error.details.field]).toEqual([400, 'jobs[1].meta.tenant_id']);
  expect((await get('/ojs/v1/jobs', acme)).body.jobs).toEqual([]);
  expect((await post('/ojs/v1/jobs', job, { 'X-OJS-Tenant': 'beta' })).status).toBe(201);
  expect((await post('/ojs/v1/jobs', job)).status).toBe(201);
});

test('the ids of events are unique within their source, whatever the tenants call their things', async () => {
  const { post, get } = harness();
  const told: string[] = [];
  for (const tenant of ['', 'acme', 'a/b']) {
    const headers = tenant === '' ? {} : { 'X-OJS-Tenant': tenant };
    await post('/ojs/v1/queues/mails/pause', undefined, headers);
    const { events } = (await get('/ojs/v1/events', headers)).body;
    told.push(...events.map(({ source, id }: { source: string; id: string }) => `${source} ${id}`));
  }
  expect(told).toHaveLength(3);
  expect(new Set(told).size).toBe(3);
});
