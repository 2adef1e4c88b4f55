import type { KeyRequest, Principal, Scope } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../serve.ts';
import { harness } from '../testing/harness.ts';

const TEXT = '# TYPE waybill_workers gauge\nwaybill_workers 3\n';
const metrics = async () => TEXT;

const as = (scopes: readonly Scope[], more: Partial<Principal> = {}) => ({
  metrics,
  principal: (): Principal => ({ id: 'k1', tenant: '*', scopes, ...more }),
});

test('the scope metrics reads them as a text of Prometheus', async () => {
  const { app } = harness(as(['metrics']));
  const response = await app.request('/metrics');
  expect([response.status, await response.text()]).toEqual([200, TEXT]);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
});

test.each<[readonly Scope[], Partial<Principal>]>([
  [['admin'], {}],
  [['read', 'metrics'], {}],
])('%j with %j may read them', async (scopes, more) => {
  expect((await harness(as(scopes, more)).app.request('/metrics')).status).toBe(200);
});

test.each<[readonly Scope[], Partial<Principal>]>([
  [['enqueue', 'work', 'read'], {}],
  [['metrics'], { tenant: '' }],
  [['metrics'], { tenant: 'acme' }],
  [['admin'], { tenant: 'acme' }],
  [['metrics'], { queues: ['mails'] }],
  [['metrics'], { types: ['email.send'] }],
])('%j with %j may not', async (scopes, more) => {
  const { status, body } = await harness(as(scopes, more)).get('/metrics');
  expect([status, body.error.code]).toEqual([403, 'forbidden']);
});

test('where nobody has to log in anybody reads them; without metrics the refusal says how to turn them on', async () => {
  expect((await harness({ metrics }).app.request('/metrics')).status).toBe(200);
  const { status, body } = await harness().get('/metrics');
  expect([status, body.error.hint]).toEqual([404, expect.stringContaining('--metrics')]);
});

test('over HTTP a real key with the scope reads them, and neither strangers nor other keys do', async () => {
  const { app, waybill } = harness({ auth: {}, metrics });
  const { url, close } = await serve(app, { port: 0, graceMs: 100 });
  onTestFinished(() => close());
  const ask = async (headers: Record<string, string>) => {
    const response = await fetch(`${url}/metrics`, { headers });
    return [response.status, await response.text()] as const;
  };
  const keyFor = async (request: Partial<KeyRequest>, tenant = '') => {
    const { secret } = await waybill.keys!.create({ name: 'k', scopes: ['metrics'], ...request }, { tenant });
    return { Authorization: `Bearer ${secret}` };
  };
  expect(await ask(await keyFor({}, '*'))).toEqual([200, TEXT]);
  const refused: [headers: Record<string, string>, status: number][] = [
    [{}, 401],
    [{ Authorization: `Bearer wb_abcdefghjkmn_${'x'.repeat(43)}` }, 401],
    [await keyFor({ scopes: ['read'] }), 403],
    [await keyFor({ scopes: ['enqueue', 'work', 'read'] }, '*'), 403],
    [await keyFor({ scopes: ['admin'] }, 'acme'), 403],
    [await keyFor({ scopes: ['admin'], queues: ['mail'] }, '*'), 403],
  ];
  for (const [headers, expected] of refused) {
    const [status, text] = await ask(headers);
    expect([status, text.includes('waybill_workers')]).toEqual([expected, false]);
  }
});
