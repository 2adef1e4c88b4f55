import { type Principal, SCOPES } from '@waybill/core';
import { describe, expect, test } from 'vitest';
import { harness, MEDIA_TYPE } from '../testing/harness.ts';
import { rpcHarness } from '../testing/rpc-harness.ts';

const USD = { unit: 'usd', period: 'month', limit: 50 };

/** A server that asks who somebody is; the header says it here. */
function guarded() {
  const callers: Record<string, Principal> = {
    operator: { id: 'ops', tenant: '*', scopes: ['admin'] },
    acme: { id: 'acme', tenant: 'acme', scopes: SCOPES },
    reader: { id: 'reader', tenant: 'acme', scopes: ['read'] },
    worker: { id: 'worker', tenant: 'acme', scopes: ['work'] },
    narrowed: { id: 'narrowed', tenant: 'acme', scopes: ['admin'], queues: ['mails'] },
    beta: { id: 'beta', tenant: 'beta', scopes: SCOPES },
  };
  const { app, waybill } = harness({ principal: (asking) => callers[asking.header('x-caller')!]! });
  const ask = async (caller: string, method: string, path: string, body?: unknown, tenant?: string) => {
    const response = await app.request(`/waybill/v1/${path}`, {
      method,
      headers: { 'X-Caller': caller, 'Content-Type': MEDIA_TYPE, ...(tenant && { 'X-OJS-Tenant': tenant }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  /** The token of one lease, signed as this server signs them. */
  const fetchOne = async (): Promise<string> => {
    const headers = { 'X-Caller': 'worker', 'Content-Type': MEDIA_TYPE };
    const body = JSON.stringify({ queues: ['default'] });
    const { jobs } = (await (await app.request('/ojs/v1/workers/fetch', { method: 'POST', headers, body })).json()) as {
      jobs: { lease_token: string }[];
    };
    return jobs[0]!.lease_token;
  };
  const statuses = (method: string, path: string, body?: unknown) =>
    Promise.all(
      ['acme', 'reader', 'worker', 'narrowed', 'beta'].map(
        async (caller) => (await ask(caller, method, path, body)).status,
      ),
    );
  return { ask, fetchOne, statuses, waybill };
}

describe('with principals', () => {
  test('only operators set and remove the budgets of a tenant as a whole; it may look at them', async () => {
    const { ask, statuses, waybill } = guarded();
    const set = await ask('operator', 'PUT', 'budgets', USD, 'acme');
    const shown = { ...USD, id: 'usd:month', spent: 0, left: 50, exceeded: false, ends_at: expect.any(String) };
    expect(set).toEqual({ status: 200, body: { budget: shown } });
    expect(await statuses('PUT', 'budgets', { ...USD, limit: 99 })).toEqual([403, 403, 403, 403, 403]);
    expect(await statuses('DELETE', 'budgets/usd:month')).toEqual([403, 403, 403, 403, 403]);
    expect(await statuses('GET', 'budgets/usd:month')).toEqual([200, 200, 403, 403, 404]);
    expect((await waybill.budgets.get('usd:month', { tenant: 'acme' })).limit).toBe(50);
  });

  test('a tenant sets those of its keys, and others see nothing of them', async () => {
    const { ask, statuses, waybill } = guarded();
    expect(await statuses('PUT', 'budgets', { ...USD, key: 'ada' })).toEqual([200, 403, 403, 403, 200]);
    await ask('acme', 'PUT', 'budgets', { ...USD, key: 'only acme' });
    expect(await statuses('GET', 'budgets/usd:month:only%20acme')).toEqual([200, 200, 403, 403, 404]);
    expect((await ask('beta', 'GET', 'budgets')).body).toMatchObject({ budgets: [{ key: 'ada' }] });
    expect((await ask('beta', 'DELETE', 'budgets/usd:month:ada')).status).toBe(200);
    expect(await waybill.budgets.get('usd:month:ada', { tenant: 'acme' })).toMatchObject({ tenant: 'acme' });
  });

  test('a run spends with the scope work, in its own tenant', async () => {
    const { ask, fetchOne, waybill } = guarded();
    await waybill.budgets.set({ ...USD, limit: 1, period: 'total' }, { tenant: 'acme' });
    const { job } = await waybill.jobs.enqueue({ type: 'test.job', args: [] }, { tenant: 'acme' });
    const token = await fetchOne();
    const body = { lease_token: token, amounts: { usd: 1.5, pages: 3 }, number: 1 };
    const spend = (caller: string) => ask(caller, 'POST', `jobs/${job.id}/spend`, body);
    const answered = { status: 200, body: { budgets: [{ id: 'usd:total', spent: 1.5, exceeded: true }] } };
    expect(await spend('worker')).toMatchObject(answered);
    expect(await spend('worker')).toMatchObject(answered);
    expect((await spend('reader')).status).toBe(403);
    expect((await spend('beta')).status).toBe(404);
    await waybill.jobs.cancel(job.id, { tenant: 'acme' });
    expect(await spend('worker')).toMatchObject({ status: 409, body: { error: { code: 'lease_lost' } } });
  });
});

test('without keys a caller sets the budgets of the tenant that its header names', async () => {
  const { app, waybill } = harness();
  const headers = { 'Content-Type': MEDIA_TYPE, 'X-OJS-Tenant': 'acme' };
  const set = await app.request('/waybill/v1/budgets', { method: 'PUT', headers, body: JSON.stringify(USD) });
  expect(set.status).toBe(200);
  expect((await waybill.budgets.list({ tenant: 'acme' })).items).toMatchObject([{ id: 'usd:month', tenant: 'acme' }]);
  expect((await waybill.budgets.list()).items).toEqual([]);
  const removed = await app.request('/waybill/v1/budgets/usd:month', { method: 'DELETE', headers });
  expect(await removed.json()).toMatchObject({ budget: { id: 'usd:month' } });
});

test.each([
  [{ ...USD, unit: 'US$' }, "'unit'"],
  [{ ...USD, period: 'week' }, "'period'"],
  [{ ...USD, limit: 0 }, "'limit'"],
  [{ ...USD, limit: '5' }, "'limit'"],
  [{ ...USD, key: '' }, "'key'"],
  [{ ...USD, kee: 'a' }, "Did you mean 'key'"],
])('refuses %j', async (body, text) => {
  const { app } = harness();
  const headers = { 'Content-Type': MEDIA_TYPE };
  const refused = await app.request('/waybill/v1/budgets', { method: 'PUT', headers, body: JSON.stringify(body) });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain(text);
});

test('a run spends over gRPC as in the process of the engine', async () => {
  const { client, waybill } = await rpcHarness({ maintenance: false });
  await waybill.budgets.set({ unit: 'usd', period: 'month', limit: 2 });
  await waybill.budgets.set({ unit: 'pages', period: 'total', limit: 4, key: 'äda' });
  const { job } = await waybill.jobs.enqueue({ type: 'test.job', args: [] });
  const [lease] = await client.jobs.claim({ queues: ['default'] });
  const held = { id: job.id, leaseToken: lease!.token };
  const spent = await client.jobs.spend({ ...held, number: 1, amounts: { usd: 2.5, pages: 1 }, key: 'äda' });
  expect(spent.exceeded.map(({ id }) => id)).toEqual(['usd:month']);
  expect(spent).toEqual(await waybill.jobs.spend({ ...held, amounts: { usd: 0, pages: 0 }, key: 'äda' }));
  await client.jobs.spend({ ...held, number: 1, amounts: { usd: 2.5 } });
  expect(await waybill.budgets.get('usd:month')).toMatchObject({ spent: 2.5 });
  await expect(client.budgets.list()).rejects.toMatchObject({ code: 'unsupported' });
});
