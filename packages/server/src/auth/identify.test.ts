import { engine, type KeyHolder, silentLogger } from '@waybill/core';
import { faultyStore, memoryStore, TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const JOBS = '/ojs/v1/jobs';

async function withKey(scopes: readonly ('read' | 'enqueue' | 'admin')[] = ['read']) {
  const server = harness({ auth: {} });
  const { key, secret } = await server.waybill.keys!.create({ name: 'one', scopes });
  return { ...server, key, secret };
}

test('a key of the store is taken from either header, with its rights', async () => {
  const { get, post, secret } = await withKey();
  for (const headers of [
    { Authorization: `Bearer ${secret}` },
    { Authorization: `bearer  ${secret}` },
    { 'X-API-Key': secret },
    { 'X-API-Key': secret, Authorization: `Bearer ${secret}` },
    { 'X-API-Key': secret, Authorization: 'Basic Zm9yOnByb3h5' },
  ] as Record<string, string>[]) {
    expect((await get(JOBS, headers)).status).toBe(200);
    expect((await post(JOBS, { type: 'a.b', args: [] }, headers)).body.error.code).toBe('forbidden');
  }
});

test('two different credentials in one request are refused, whichever of them counts', async () => {
  const { get, secret } = await withKey();
  for (const headers of [
    { Authorization: `Bearer ${secret}`, 'X-API-Key': 'other' },
    { Authorization: 'Bearer other', 'X-API-Key': secret },
  ]) {
    const { status, body } = await get(JOBS, headers);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(JSON.stringify(body)).not.toContain(secret);
  }
});

test('a revoked key is refused within the time that keys are cached', async () => {
  const { get, secret, key, waybill, clock } = await withKey();
  const headers = { 'X-API-Key': secret };
  expect((await get(JOBS, headers)).status).toBe(200);
  await waybill.keys!.revoke(key.id);
  await clock.advance(5_000);
  expect((await get(JOBS, headers)).status).toBe(401);
});

test('given keys are asked where the store knows none', async () => {
  const holder: KeyHolder = {
    ...{ principal: { id: 'given', tenant: 'acme', scopes: ['read'] }, name: 'given', expiresAt: null },
  };
  const given = { identify: async (secret: string) => (secret === 'the-given-key' ? holder : null) };
  const { get } = harness({ auth: { given } });
  const asked = await get('/auth/session', { 'X-API-Key': 'the-given-key' });
  expect(asked.body).toMatchObject({ by: 'given', principal: { id: 'given', tenant: 'acme', name: 'given' } });
  expect((await get(JOBS, { 'X-API-Key': 'another' })).status).toBe(401);
});

test('a hook of the user’s own is asked last', async () => {
  const { get, waybill } = harness({
    auth: { own: ({ header }) => ({ id: header('X-User') ?? '', tenant: 'own', scopes: ['read'] }) },
  });
  const { secret } = await waybill.keys!.create({ name: 'one', scopes: ['read'] });
  const whoIs = async (headers: Record<string, string>) => (await get('/auth/session', headers)).body;
  expect(await whoIs({ 'X-User': 'ada' })).toMatchObject({ by: 'own', principal: { id: 'ada', tenant: 'own' } });
  expect(await whoIs({ 'X-User': 'ada', 'X-API-Key': secret })).toMatchObject({
    by: 'key',
    principal: { name: 'one' },
  });
});

// fault: the store does not answer while a key is looked up
test('a store that is away is 503 and no word about the key, and is logged once', async () => {
  const clock = new TestClock();
  const store = faultyStore(
    memoryStore({ clock }),
    [1, 2].map((call) => ({ method: 'records.get', call, when: 'before' })),
  );
  const waybill = engine({ store, logger: silentLogger, maintenance: false });
  const { get, log } = harness({ waybill, auth: {}, clock });
  const { secret } = await waybill.keys!.create({ name: 'one', scopes: ['read'] });
  for (let count = 0; count < 2; count += 1) {
    const { status, body, headers } = await get(JOBS, { 'X-API-Key': secret });
    expect([status, body.error.code, body.error.retryable, headers.get('Retry-After')]).toEqual([
      ...[503, 'unavailable', true, '1'],
    ]);
  }
  expect((await get(JOBS, { 'X-API-Key': secret })).status).toBe(200);
  expect(log.filter(({ level }) => level === 'warn')).toHaveLength(1);
  expect(JSON.stringify(log)).not.toContain(secret);
});

test.each([
  [{ key: true }, "has no option 'key'. Did you mean 'keys'?"],
  [{ keys: false, sessions: false }, 'names no way'],
  [{ sessionMs: 1 }, 'from a minute to 30 days'],
  [{ jwt: { issuer: 'https://a', audience: '', jwks: 'x.json' } }, "needs 'audience'"],
  [{ jwt: { issuer: 'a', audience: 'b', jwks: 'http://issuer.example/jwks' } }, 'https://'],
  [{ jwt: { issuer: 'a', audience: 'b', jwks: 'x.json', algorithms: ['HS256'] } }, 'must be among'],
  [{ jwt: { issuer: 'a', audience: 'b', jwks: 'x.json', tenants: 'c' } }, "Did you mean 'tenant'?"],
])('the options %j are refused', (auth, text) => {
  expect(() => harness({ auth: auth as never })).toThrow(text);
});

test('health of a tenant tells nothing of others', async () => {
  const { waybill, get: _ } = await withKey();
  const { secret } = await waybill.keys!.create({ name: 'b', scopes: ['read'] }, { tenant: 'b' });
  const { secret: root } = await waybill.keys!.create({ name: 'root', scopes: ['read'] }, { tenant: '*' });
  const item = {
    kind: 'cron',
    tenant: 'acme',
    id: 'nightly',
    reason: 'No.',
    failures: 1,
    since: 0,
    nextTryAt: 0,
  } as const;
  const health = {
    ...(await waybill.health()),
    maintenance: { status: 'failing', failing: 1, items: [item] } as const,
    unknownTypes: { jobs: 1, types: [{ type: 'secret.type', queue: 'q', jobs: 1, reason: 'x', nextTryAt: 0 }] },
  };
  const { get } = harness({ waybill: { ...waybill, health: async () => health }, auth: {} });
  const told = async (key: string) => JSON.stringify((await get('/ojs/v1/health', { 'X-API-Key': key })).body);
  expect(await told(secret)).not.toMatch(/nightly|secret\.type/);
  expect(await told(root)).toMatch(/nightly.*secret\.type/);
});
