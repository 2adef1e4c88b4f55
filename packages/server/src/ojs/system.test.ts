import type { Waybill } from '@waybill/core';
import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

test('the manifest tells what is there and claims no more', async () => {
  const { get } = harness();
  const { body } = await get('/ojs/manifest');
  expect(body).toMatchObject({
    specversion: '1.0',
    implementation: { name: 'waybill', version: '0.0.0-test', language: 'typescript' },
    conformance_level: 4,
    protocols: ['http'],
    backend: 'memory',
  });
  expect(body.capabilities).toMatchObject({
    batch_enqueue: true,
    dead_letter: true,
    workflows: true,
    cron_jobs: true,
    schema_validation: false,
  });
});

test('health and readiness follow the store', async () => {
  const { get, waybill } = harness();
  for (const path of ['/ojs/v1/health', '/health']) {
    expect(await get(path)).toMatchObject({
      status: 200,
      body: { status: 'ok', backend: { type: 'memory', status: 'ok' } },
    });
  }
  expect(await get('/ready')).toMatchObject({ status: 200, body: { status: 'ready' } });
  const away: Waybill['health'] = async () => ({
    status: 'degraded',
    store: { name: 'memory', status: 'unhealthy', latencyMs: 1 },
  });
  Object.assign(waybill, { health: away });
  const sick = harness({ waybill });
  for (const path of ['/ojs/v1/health', '/health']) {
    expect(await sick.get(path)).toMatchObject({
      status: 503,
      body: { status: 'degraded', backend: { status: 'unhealthy' } },
    });
  }
  expect(await sick.get('/ready')).toMatchObject({
    ...{ status: 503, body: { status: 'unavailable', reason: 'memory does not answer.' } },
  });
});

test('without its queues a server is alive and not ready, and says why', async () => {
  const { waybill } = harness();
  const health: Waybill['health'] = async () => ({
    status: 'degraded',
    store: { name: 'memory', status: 'ok', latencyMs: 1 },
    transport: { name: 'sqs', status: 'unhealthy', latencyMs: 2, reason: 'The queue is gone.' },
  });
  Object.assign(waybill, { health });
  const { get } = harness({ waybill });
  expect(await get('/health')).toMatchObject({
    status: 200,
    body: { status: 'degraded', transport: { type: 'sqs', status: 'unhealthy', reason: 'The queue is gone.' } },
  });
  expect(await get('/ready')).toMatchObject({
    ...{ status: 503, body: { status: 'unavailable', reason: 'The queue is gone.' } },
  });
});

test('a closing server is not ready', async () => {
  const { app } = harness();
  expect((await app.request('/ready', {}, { closing: AbortSignal.abort() })).status).toBe(503);
});

test('A1: a server whose maintenance fails is degraded and ready, and names what it has put off', async () => {
  const { waybill } = harness();
  const item = { kind: 'cron', tenant: 'acme', id: 'nightly', reason: 'No.', failures: 3, since: 0, nextTryAt: 1_000 };
  const health: Waybill['health'] = async () => ({
    status: 'degraded',
    store: { name: 'memory', status: 'ok', latencyMs: 1 },
    maintenance: { status: 'failing', failing: 1, items: [{ ...item, kind: 'cron' }] },
  });
  Object.assign(waybill, { health });
  const { get } = harness({ waybill });
  const times = { since: '1970-01-01T00:00:00.000Z', next_try_at: '1970-01-01T00:00:01.000Z' };
  const told = { kind: 'cron', id: 'nightly', reason: 'No.', failures: 3, ...times };
  const maintenance = { status: 'failing', failing: 1, items: [told] };
  expect(await get('/health')).toMatchObject({ status: 200, body: { status: 'degraded', maintenance } });
  expect(await get('/ready')).toMatchObject({ status: 200, body: { status: 'ready', maintenance } });
});

test('D10: health names types that no worker knows, and is not degraded by them', async () => {
  const { get, post, waybill } = harness();
  await waybill.jobs.enqueue({ type: 'mail.sned', args: [] });
  const [job] = (await post('/ojs/v1/workers/fetch', { queues: ['default'] })).body.jobs;
  const error = { code: 'unknown_type', message: "Worker w has no task 'mail.sned'." };
  await post('/ojs/v1/workers/nack', { job_id: job.id, lease_token: job.lease_token, outcome: 'snoozed', error });
  const type = { type: 'mail.sned', queue: 'default', jobs: 1, reason: error.message };
  for (const path of ['/ojs/v1/health', '/health']) {
    expect(await get(path)).toMatchObject({
      status: 200,
      body: { status: 'ok', unknown_types: { jobs: 1, types: [{ ...type, next_try_at: expect.any(String) }] } },
    });
  }
  expect((await get('/ready')).body).toEqual({ status: 'ready' });
});
