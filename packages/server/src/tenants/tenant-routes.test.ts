import { type Principal, SCOPES } from '@waybill/core';
import { describe, expect, test } from 'vitest';
import { harness, MEDIA_TYPE } from '../testing/harness.ts';

const JOB = { type: 'test.job', args: [] };
const WAITING = { limits: { waiting: 1, enqueue_rate: null, concurrency: null } };

/** A server that asks who somebody is; the header says it here. */
function guarded() {
  const callers: Record<string, Principal> = {
    operator: { id: 'ops', tenant: '*', scopes: ['admin'] },
    watcher: { id: 'watch', tenant: '*', scopes: ['read'] },
    acme: { id: 'acme', tenant: 'acme', scopes: SCOPES },
    reader: { id: 'reader', tenant: 'acme', scopes: ['read'] },
    beta: { id: 'beta', tenant: 'beta', scopes: SCOPES },
  };
  const { app, waybill } = harness({ principal: (asking) => callers[asking.header('x-caller')!]! });
  const ask = async (caller: string, method: string, path: string, body?: unknown) => {
    const response = await app.request(`/waybill/v1/tenants${path}`, {
      ...{ method, headers: { 'X-Caller': caller, 'Content-Type': MEDIA_TYPE } },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return { ask, waybill };
}

describe('with principals', () => {
  test('only operators list tenants and set limits: a tenant cannot lift its own', async () => {
    const { ask, waybill } = guarded();
    await waybill.jobs.enqueue(JOB, { tenant: 'acme' });
    expect(await ask('operator', 'PUT', '/acme/limits', { waiting: 1 })).toMatchObject({
      ...{ status: 200, body: { tenant: { tenant: 'acme', ...WAITING } } },
    });
    for (const caller of ['acme', 'reader', 'beta', 'watcher']) {
      expect((await ask(caller, 'PUT', '/acme/limits', { waiting: null })).status).toBe(403);
    }
    for (const caller of ['acme', 'reader', 'beta']) expect((await ask(caller, 'GET', '')).status).toBe(403);
    expect(await ask('watcher', 'GET', '')).toMatchObject({ body: { tenants: [{ tenant: 'acme', ...WAITING }] } });
    expect((await waybill.tenants.get('acme')).limits.waiting).toBe(1);
  });

  test('a tenant sees itself, and others do not exist', async () => {
    const { ask, waybill } = guarded();
    await waybill.jobs.enqueue(JOB, { tenant: 'acme' });
    for (const caller of ['acme', 'reader', 'operator', 'watcher']) {
      expect(await ask(caller, 'GET', '/acme')).toMatchObject({
        body: { tenant: { tenant: 'acme', waiting: 1, jobs: { available: 1 }, exact: true } },
      });
    }
    const [foreign, unknown] = [await ask('beta', 'GET', '/acme'), await ask('operator', 'GET', '/nobody')];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    const said = ({ body }: typeof foreign) => (body['error'] as { message: string }).message;
    expect(said(foreign).replace('acme', 'nobody')).toBe(said(unknown));
  });
});

test('a refused job is answered with 429, and when to try again', async () => {
  const { app, waybill } = harness();
  await waybill.tenants.setLimits('', { enqueueRate: { limit: 2, periodMs: 60_000 } });
  const send = () =>
    app.request('/ojs/v1/jobs', {
      ...{ method: 'POST', headers: { 'Content-Type': MEDIA_TYPE }, body: JSON.stringify(JOB) },
    });
  expect([(await send()).status, (await send()).status]).toEqual([201, 201]);
  const refused = await send();
  expect(refused.status).toBe(429);
  const { error } = (await refused.json()) as { error: { code: string; details: { retry_after_ms: number } } };
  expect(error.code).toBe('rate_limited');
  expect(Number(refused.headers.get('Retry-After'))).toBe(Math.ceil(error.details.retry_after_ms / 1_000));
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(30);
});

test.each([
  [{}, 'body'],
  [{ concurency: 1 }, 'concurency'],
  [{ waiting: 0 }, 'waiting'],
  [{ enqueue_rate: { limit: 1 } }, 'enqueue_rate.period_ms'],
  [{ enqueue_rate: { limit: 1, period_ms: 1 } }, 'periodMs'],
])('refuses the limits %j', async (body, field) => {
  const { app, waybill } = harness();
  const response = await app.request('/waybill/v1/tenants/~default/limits', {
    ...{ method: 'PUT', headers: { 'Content-Type': MEDIA_TYPE }, body: JSON.stringify(body) },
  });
  expect(response.status).toBe(400);
  expect(JSON.stringify(await response.json())).toContain(field);
  expect(await waybill.tenants.list()).toEqual({ items: [] });
});
