import type { Scope } from '@waybill/core';
import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { webhookService } from '../webhooks/webhook-service.ts';

const LIST = '/waybill/v1/webhooks';
/** Nothing listens there. */
const URL = 'http://127.0.0.1:1/';

/** A server with keys and what delivers webhooks, not started. */
function keyed() {
  const own = harness({ maintenance: false });
  const { waybill, clock } = own;
  const webhooks = webhookService({ waybill, clock, version: '0', allowPrivate: true });
  const server = harness({ auth: {}, waybill, clock, webhooks });
  const key = async (tenant: string, scopes: readonly Scope[] = ['admin']) => {
    const made = await waybill.keys!.create({ name: 'ada', scopes }, { tenant });
    return { id: made.key.id, secret: made.secret, headers: { 'X-API-Key': made.secret } };
  };
  const auditOf = async (headers: Record<string, string>, action: string) =>
    (await server.get(`/waybill/v1/audit?action=${action}`, headers)).body.audit as object[];
  return { ...server, key, auditOf };
}

test('the start and the end of a session are written down, for every scope, in the tenant of the key', async () => {
  const { post, delete: remove, get, key, auditOf } = keyed();
  const [admin, reader, other] = [await key('acme'), await key('acme', ['read']), await key('umbrella')];
  for (const { secret } of [admin, reader]) {
    const { headers, body } = await post('/auth/session', { key: secret }, { 'X-Request-Id': 'r1' });
    const Cookie = headers.get('Set-Cookie')!.split(';', 1)[0]!;
    const session = { Cookie, 'X-CSRF-Token': body.csrf_token, 'X-Request-Id': 'r2' };
    expect((await remove('/auth/session', session)).status).toBe(200);
    const text = JSON.stringify((await get('/waybill/v1/audit', admin.headers)).body);
    for (const secret of [Cookie.split('=')[1]!, body.csrf_token as string, admin.secret, reader.secret])
      expect(text).not.toContain(secret);
  }
  expect(await auditOf(admin.headers, 'sessions.')).toMatchObject([
    { principal: admin.id, action: 'sessions.start', target: null, outcome: 'ok', request_id: 'r1' },
    { principal: admin.id, action: 'sessions.end', target: null, outcome: 'ok', request_id: 'r2' },
    { principal: reader.id, action: 'sessions.start', outcome: 'ok' },
    { principal: reader.id, action: 'sessions.end', outcome: 'ok' },
  ]);
  expect(await auditOf(other.headers, 'sessions.')).toEqual([]);
});

test('a login that is refused has nobody to write down', async () => {
  const { post, key, auditOf } = keyed();
  const admin = await key('');
  expect((await post('/auth/session', { key: `${admin.secret.slice(0, -4)}AAAA` })).status).toBe(401);
  expect(await auditOf(admin.headers, 'sessions.')).toEqual([]);
});

test('tests, redeliveries, pauses and resumes of webhooks are written down with how they ended', async () => {
  const { post, key, auditOf } = keyed();
  const [{ id: principal, headers }, other] = [await key('acme'), await key('umbrella')];
  const { id: target } = (await post(LIST, { url: URL }, headers)).body.webhook as { id: string };
  const call = async (verb: string, body?: object) => (await post(`${LIST}/${target}/${verb}`, body, headers)).status;
  expect(await call('test')).toBe(200);
  expect(await call('redeliver', { since: '2020-01-01T00:00:00Z' })).toBe(200);
  expect(await call('redeliver', { event_id: 'evt_none' })).toBe(404);
  expect(await call('pause')).toBe(200);
  expect(await call('resume')).toBe(200);
  expect(await auditOf(headers, 'webhooks.')).toMatchObject([
    { principal, name: 'ada', action: 'webhooks.create', target, outcome: 'ok' },
    // Nothing listens there.
    { principal, action: 'webhooks.test', target, outcome: 'unavailable' },
    { principal, action: 'webhooks.redeliver', target, outcome: 'ok' },
    { principal, action: 'webhooks.redeliver', target, outcome: 'not_found' },
    { principal, action: 'webhooks.pause', target, outcome: 'ok' },
    { principal, action: 'webhooks.resume', target, outcome: 'ok' },
  ]);
  expect(await auditOf(other.headers, 'webhooks.')).toEqual([]);
});

test('whoever may not is refused before, and that is written down too', async () => {
  const { post, get, delete: remove, key, auditOf } = keyed();
  const [admin, reader] = [await key('acme'), await key('acme', ['read'])];
  const { id } = (await post(LIST, { url: URL }, admin.headers)).body.webhook as { id: string };
  for (const verb of ['test', 'pause', 'resume'])
    expect((await post(`${LIST}/${id}/${verb}`, undefined, reader.headers)).status).toBe(403);
  expect((await post(LIST, { url: URL }, reader.headers)).status).toBe(403);
  expect((await remove(`${LIST}/${id}`, reader.headers)).status).toBe(403);
  expect((await get(LIST, reader.headers)).status).toBe(403);
  const refused = { principal: reader.id, outcome: 'forbidden' };
  expect(await auditOf(admin.headers, `webhooks.&principal=${reader.id}`)).toMatchObject([
    ...['test', 'pause', 'resume'].map((verb) => ({ ...refused, action: `webhooks.${verb}`, target: id })),
    { ...refused, action: 'webhooks.create', target: null },
    { ...refused, action: 'webhooks.remove', target: id },
    { ...refused, action: 'webhooks.list', target: null },
  ]);
});

test('webhooks are written down as webhooks, each change under its name, and looks at them not at all', async () => {
  const { post, put, get, delete: remove, key, auditOf } = keyed();
  const { headers } = await key('acme');
  const { id: target } = (await post(LIST, { url: URL }, headers)).body.webhook as { id: string };
  const path = `${LIST}/${target}`;
  await put(path, { url: URL, events: ['job.failed'] }, headers);
  await post(`${path}/rotate-secret`, {}, headers);
  for (const looked of [LIST, path, `${LIST}/none`, '/waybill/v1/keys', '/waybill/v1/incidents'])
    await get(looked, headers);
  await remove(path, headers);
  await put('/waybill/v1/incidents/late', { title: 'Late', severity: 'low' }, headers);
  const lines = (await get('/waybill/v1/audit', headers)).body.audit as Record<string, string>[];
  expect(lines.map(({ action, target, outcome }) => [action, target, outcome])).toEqual([
    ...['create', 'change', 'rotate', 'remove'].map((verb) => [`webhooks.${verb}`, target, 'ok']),
    ['incidents.create', 'late', 'ok'],
  ]);
  expect(await auditOf(headers, 'webhooks.create')).toHaveLength(1);
});
