import { engine, silentLogger, type Waybill } from '@waybill/core';
import { faultyStore, memoryStore, TestClock } from '@waybill/core/testing';
import { describe, expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { MOST_FAILURES } from './attempt-limit.ts';
import { SESSION_CACHED_MS } from './session-book.ts';

const HOUR = 3_600_000;
const PAUSE = '/ojs/v1/queues/q/pause';

/** A browser that has logged in. */
async function loggedIn(options: { expiresAt?: number } = {}, waybill?: Waybill) {
  const server = harness({ auth: {}, ...(waybill && { waybill }) });
  const { key, secret } = await server.waybill.keys!.create({ name: 'ada', scopes: ['admin'], ...options });
  const begun = await server.post('/auth/session', { key: secret });
  expect([begun.status, begun.body.error]).toEqual([201, undefined]);
  const set = begun.headers.get('Set-Cookie')!;
  const Cookie = set.split(';', 1)[0]!;
  const csrf = { 'X-CSRF-Token': begun.body.csrf_token as string };
  return { ...server, key, secret, begun, set, Cookie, csrf };
}

test('a key is exchanged for a cookie that no script reads and no other site sends', async () => {
  const { begun, set, secret, get, Cookie, key } = await loggedIn();
  expect(begun.status).toBe(201);
  expect(set).toMatch(/^waybill_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
  expect(begun.body).toMatchObject({
    by: 'session',
    principal: { id: key.id, name: 'ada', tenant: '', scopes: ['admin'] },
  });
  expect(JSON.stringify(begun.body)).not.toContain(secret);
  const shown = await get('/auth/session', { Cookie });
  expect(shown.body).toEqual(begun.body);
  expect(shown.headers.get('Cache-Control')).toBe('no-store');
  expect((await get('/ojs/v1/jobs', { Cookie })).status).toBe(200);
});

test('over HTTPS the cookie is bound to the host, and the plain one does not count', async () => {
  const server = harness({ auth: {} });
  const { secret } = await server.waybill.keys!.create({ name: 'ada', scopes: ['admin'] });
  const https = { isHttps: true };
  const begun = await server.app.request('/auth/session', { method: 'POST', headers: { 'X-API-Key': secret } }, https);
  const set = begun.headers.get('Set-Cookie')!;
  expect(set).toMatch(/^__Host-waybill_session=\S+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
  const [, token] = /=([\w-]+);/.exec(set)!;
  const statusWith = async (Cookie: string) =>
    (await server.app.request('/ojs/v1/jobs', { headers: { Cookie } }, https)).status;
  expect(await statusWith(`__Host-waybill_session=${token}`)).toBe(200);
  expect(await statusWith(`waybill_session=${token}`)).toBe(401);
});

describe('a change by a session', () => {
  test('needs its CSRF token', async () => {
    const { post, Cookie, csrf, waybill } = await loggedIn();
    const other = await loggedIn();
    for (const headers of [{}, { 'X-CSRF-Token': 'x' }, other.csrf]) {
      const { status, body } = await post(PAUSE, undefined, { Cookie, ...headers });
      expect([status, body.error.details]).toEqual([403, { header: 'X-CSRF-Token' }]);
    }
    expect(await waybill.queues.list()).toEqual([]);
    expect((await post(PAUSE, undefined, { Cookie, ...csrf })).status).toBe(200);
  });

  test('must come from our own origin', async () => {
    const { post, Cookie, csrf } = await loggedIn();
    const statusFrom = async (Origin: string) =>
      (await post(PAUSE, undefined, { Cookie, ...csrf, Host: 'jobs.example', Origin })).status;
    expect(await statusFrom('https://evil.example')).toBe(403);
    expect(await statusFrom('null')).toBe(403);
    expect(await statusFrom('https://jobs.example')).toBe(200);
  });
});

test('a session ends when it is asked to, at once here and soon on other servers', async () => {
  const { raw, get, Cookie, csrf, waybill, clock } = await loggedIn();
  const other = harness({ waybill, auth: {}, clock });
  const statusThere = async () => (await other.get('/ojs/v1/jobs', { Cookie })).status;
  expect(await statusThere()).toBe(200);
  expect((await raw('DELETE', '/auth/session', { headers: { Cookie } })).status).toBe(403);
  const ended = await raw('DELETE', '/auth/session', { headers: { Cookie, ...csrf } });
  expect([ended.status, ended.headers.get('Set-Cookie')]).toEqual([200, expect.stringContaining('Max-Age=0')]);
  expect((await get('/ojs/v1/jobs', { Cookie })).status).toBe(401);
  await clock.advance(SESSION_CACHED_MS);
  expect(await statusThere()).toBe(401);
});

test('a session ends by itself, and before that with its key', async () => {
  const { get, Cookie, clock } = await loggedIn();
  await clock.advance(12 * HOUR - 1);
  expect((await get('/ojs/v1/jobs', { Cookie })).status).toBe(200);
  await clock.advance(1);
  expect((await get('/ojs/v1/jobs', { Cookie })).status).toBe(401);

  const { clock: now } = harness();
  const short = await loggedIn({ expiresAt: now.now() + HOUR });
  expect(short.set).toContain('Max-Age=3600;');
  await short.clock.advance(HOUR);
  expect((await short.get('/ojs/v1/jobs', { Cookie: short.Cookie })).status).toBe(401);
});

test.each(['revoke', 'rotate'] as const)('a session ends within seconds of a %s of its key', async (change) => {
  const { get, Cookie, clock, waybill, key } = await loggedIn();
  expect((await get('/ojs/v1/jobs', { Cookie })).status).toBe(200);
  await waybill.keys![change](key.id);
  await clock.advance(SESSION_CACHED_MS);
  expect((await get('/ojs/v1/jobs', { Cookie })).status).toBe(401);
});

test('a session that was made with the old secret just after a rotation elsewhere ends with it', async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const elsewhere = engine({ store, maintenance: false, logger: silentLogger });
  const server = harness({ auth: {}, clock, waybill: engine({ store, maintenance: false, logger: silentLogger }) });
  const { key, secret } = await server.waybill.keys!.create({ name: 'ada', scopes: ['admin'] });
  expect((await server.get('/ojs/v1/jobs', { 'X-API-Key': secret })).status).toBe(200);
  await elsewhere.keys!.rotate(key.id);
  await clock.advance(1);
  const begun = await server.post('/auth/session', { key: secret });
  const Cookie = begun.headers.get('Set-Cookie')!.split(';', 1)[0]!;
  await clock.advance(2 * SESSION_CACHED_MS);
  expect((await server.get('/ojs/v1/jobs', { Cookie })).status).toBe(401);
});

test('a session ends five seconds after its key was revoked elsewhere, also where the key was in use before', async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const elsewhere = engine({ store, maintenance: false, logger: silentLogger });
  const server = harness({ auth: {}, clock, waybill: engine({ store, maintenance: false, logger: silentLogger }) });
  const { key, secret } = await server.waybill.keys!.create({ name: 'ada', scopes: ['admin'] });
  const begun = await server.post('/auth/session', { key: secret });
  const Cookie = begun.headers.get('Set-Cookie')!.split(';', 1)[0]!;
  await clock.advance(SESSION_CACHED_MS);
  expect((await server.get('/ojs/v1/jobs', { 'X-API-Key': secret })).status).toBe(200);
  await elsewhere.keys!.revoke(key.id);
  await clock.advance(SESSION_CACHED_MS - 1);
  expect((await server.get('/ojs/v1/jobs', { Cookie })).status).toBe(200);
  await clock.advance(1);
  expect((await server.get('/ojs/v1/jobs', { Cookie })).status).toBe(401);
});

test('a CSRF token of the right length that is no ASCII is refused as a wrong one', async () => {
  const { app, Cookie, csrf } = await loggedIn();
  const token = `${csrf['X-CSRF-Token'].slice(0, -1)}é`;
  const { status } = await app.request(PAUSE, { method: 'POST', headers: { Cookie, 'X-CSRF-Token': token } });
  expect(status).toBe(403);
});

test('nothing that is stored or logged of a session opens one', async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const { waybill, Cookie, secret, csrf, log } = await loggedIn({}, engine({ store, logger: silentLogger }));
  const records = await store.records.list({ tenant: '~system', kind: 'session', limit: 9 });
  expect(records.items).toHaveLength(1);
  const { events } = await waybill.events.read({ filter: { tenant: '*' }, limit: 1_000 });
  const everything = JSON.stringify([records, events, log]);
  for (const text of [Cookie.split('=')[1]!, secret, csrf['X-CSRF-Token']]) expect(everything).not.toContain(text);
});

test('wrong keys of one address are bounded, and good keys are not counted', async () => {
  const server = harness({ auth: {} });
  const { secret } = await server.waybill.keys!.create({ name: 'ada', scopes: ['admin'] });
  const attempt = async (key: string, clientAddress: string) => {
    const headers = { 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify({ key }) };
    const { status, headers: answered } = await server.app.request('/auth/session', init, { clientAddress });
    return [status, answered.get('Retry-After')];
  };
  for (let count = 0; count < 2 * MOST_FAILURES; count += 1)
    expect(await attempt(secret, '2001:db8::1')).toEqual([201, null]);
  for (let count = 0; count < MOST_FAILURES; count += 1)
    expect(await attempt('no', '2001:db8::1')).toEqual([401, null]);
  expect(await attempt(secret, '2001:db8:0:0:9::2')).toEqual([429, '60']);
  expect(await attempt(secret, '2001:db8:0:1::1')).toEqual([201, null]);
  expect(await attempt(secret, '10.0.0.1')).toEqual([201, null]);
  await server.clock.advance(60_000);
  expect(await attempt(secret, '2001:db8::1')).toEqual([201, null]);
});

// fault: the store does not answer while a key is looked up
test('attempts that meet a store that is away are no wrong keys', async () => {
  const clock = new TestClock();
  const calls = Array.from({ length: MOST_FAILURES }, (_, index) => index + 1);
  const faults = calls.map((call) => ({ method: 'records.get', call, when: 'before' }) as const);
  const waybill = engine({ store: faultyStore(memoryStore({ clock }), faults), logger: silentLogger });
  const { post } = harness({ waybill, clock, auth: {} });
  const { secret: key } = await waybill.keys!.create({ name: 'ada', scopes: ['admin'] });
  for (const _ of calls) expect((await post('/auth/session', { key })).status).toBe(503);
  expect((await post('/auth/session', { key })).status).toBe(201);
});

test.each([
  [{}, 401],
  [{ key: '' }, 401],
  [{ key: 5 }, 400],
  [{ keys: 'x' }, 400],
])('POST /auth/session with %j is refused with %d', async (body, status) => {
  const { post } = harness({ auth: {} });
  const answered = await post('/auth/session', body);
  expect([answered.status, answered.headers.get('Set-Cookie')]).toEqual([status, null]);
});

test('a server without keys has no sessions, and says who everybody is', async () => {
  const { post, get } = harness();
  expect((await post('/auth/session', { key: 'x' })).body.error.code).toBe('unsupported');
  expect((await get('/auth/session')).body).toEqual({ by: 'nobody', principal: null, expires_at: null });
});

test('a session of a given key ends with that key, which is not stored in a readable form', async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const waybill = engine({ store, logger: silentLogger });
  const keys = new Set(['the-given-key']);
  const holder = { principal: { id: 'g', tenant: 'acme', scopes: ['read'] as const }, name: 'given', expiresAt: null };
  const given = { identify: async (secret: string) => (keys.has(secret) ? holder : null) };
  const { post, get } = harness({ waybill, clock, auth: { given } });
  const begun = await post('/auth/session', { key: 'the-given-key' });
  const Cookie = begun.headers.get('Set-Cookie')!.split(';', 1)[0]!;
  expect((await get('/auth/session', { Cookie })).body).toEqual(begun.body);
  const { items } = await store.records.list({ tenant: '~system', kind: 'session', limit: 9 });
  expect(items).toHaveLength(1);
  expect(JSON.stringify(items)).not.toContain('the-given-key');
  await clock.advance(SESSION_CACHED_MS);
  expect((await get('/ojs/v1/jobs', { Cookie })).status).toBe(200);
  keys.clear();
  await clock.advance(SESSION_CACHED_MS);
  expect((await get('/ojs/v1/jobs', { Cookie })).status).toBe(401);
});
