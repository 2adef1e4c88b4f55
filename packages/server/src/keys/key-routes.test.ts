import { type Principal, SCOPES } from '@waybill/core';
import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const KEYS = '/waybill/v1/keys';
const request = { name: 'ci', scopes: ['enqueue', 'work'] };
const operator: Principal = { id: 'root', tenant: '*', scopes: ['admin'] };
const as = (principal: Principal) => harness({ principal: () => principal });

test('a key is made, shown, rotated and revoked; its secret is only in two of the answers', async () => {
  const { post, get, delete: remove, waybill, clock } = harness();
  const more = { queues: ['mail'], requests_per_minute: 60, expires_at: '2100-01-01T00:00:00Z' };
  const made = await post(KEYS, { ...request, ...more });
  const { key, secret } = made.body;
  expect([made.status, made.headers.get('Cache-Control')]).toEqual([201, 'no-store']);
  expect(made.headers.get('Location')).toBe(`${KEYS}/${key.id}`);
  expect(key).toMatchObject({ ...request, ...more, tenant: '', expires_at: '2100-01-01T00:00:00.000Z' });
  expect(await waybill.keys!.identify(secret)).toMatchObject({ principal: { id: key.id, queues: ['mail'] } });

  await expect.poll(async () => (await get(`${KEYS}/${key.id}`)).body.key.last_used_at).toBeDefined();
  const shown = await get(`${KEYS}/${key.id}`);
  const listed = await get(KEYS);
  expect(listed.body).toMatchObject({ keys: [shown.body.key], pagination: { has_more: false, total: 1 } });

  const rotated = await post(`${KEYS}/${key.id}/rotate`, { keep_old: 'PT1H' });
  expect([rotated.status, rotated.headers.get('Cache-Control')]).toEqual([200, 'no-store']);
  expect(rotated.body.key).toMatchObject({ id: key.id, rotated_at: new Date(clock.now()).toISOString() });
  expect(await waybill.keys!.identify(secret)).not.toBeNull();
  await clock.advance(3_600_000);
  expect(await waybill.keys!.identify(secret)).toBeNull();
  expect(await waybill.keys!.identify(rotated.body.secret)).not.toBeNull();

  const revoked = await remove(`${KEYS}/${key.id}`);
  expect(revoked.body.key.revoked_at).toBeDefined();
  expect((await remove(`${KEYS}/${key.id}`)).body.key.revoked_at).toBe(revoked.body.key.revoked_at);
  expect(await waybill.keys!.identify(rotated.body.secret)).toBeNull();
  expect((await post(`${KEYS}/${key.id}/rotate`)).status).toBe(409);
  const said = JSON.stringify([shown, listed, revoked].map(({ body }) => body));
  for (const one of [secret, rotated.body.secret]) expect(said).not.toContain(one.slice(-43));
});

test('a rotation without a body ends the old secret at once', async () => {
  const { post, waybill } = harness();
  const { key, secret } = (await post(KEYS, request)).body;
  const rotated = await post(`${KEYS}/${key.id}/rotate`);
  expect(await waybill.keys!.identify(secret)).toBeNull();
  expect(await waybill.keys!.identify(rotated.body.secret)).not.toBeNull();
});

test('an operator makes keys for one tenant or for all, and sees both', async () => {
  const { post, get, delete: remove } = as(operator);
  const acme = (await post(KEYS, { ...request, tenant: 'acme' })).body.key;
  const byHeader = (await post(KEYS, request, { 'X-OJS-Tenant': 'acme' })).body.key;
  const all = (await post(KEYS, { ...request, tenant: '*' })).body.key;
  expect([acme, byHeader, all]).toMatchObject([
    { tenant: 'acme', created_by: 'root' },
    { tenant: 'acme', created_by: 'root' },
    { tenant: '*', created_by: 'root' },
  ]);
  const idsIn = async (query: string) =>
    (await get(`${KEYS}${query}`)).body.keys.map(({ id }: { id: string }) => id).sort();
  expect(await idsIn('?tenant=*')).toEqual([acme.id, byHeader.id, all.id].sort());
  expect(await idsIn('?tenant=acme')).toEqual([acme.id, byHeader.id].sort());
  expect(await idsIn('')).toEqual([]);
  expect((await get(`${KEYS}/${all.id}`)).status).toBe(404);
  expect((await get(`${KEYS}/${all.id}?tenant=*`)).status).toBe(200);
  expect((await post(`${KEYS}/${all.id}/rotate?tenant=*`)).body.key.id).toBe(all.id);
  expect((await remove(`${KEYS}/${all.id}?tenant=*`)).body.key.revoked_at).toBeDefined();
  expect((await get(`${KEYS}?tenant=beta`, { 'X-OJS-Tenant': 'acme' })).body.error).toMatchObject({
    ...{ code: 'invalid_request', details: { field: 'tenant' } },
  });
});

test.each<[string, Principal]>([
  ...SCOPES.filter((scope) => scope !== 'admin').map((scope): [string, Principal] => [
    `the scope ${scope}`,
    { id: 'k', tenant: 'acme', scopes: [scope] },
  ]),
  ['a narrowed admin', { id: 'k', tenant: 'acme', scopes: ['admin'], queues: ['mail'] }],
])('%s may not touch keys', async (_, principal) => {
  const { post, get, delete: remove, waybill } = as(principal);
  const { key } = await waybill.keys!.create({ name: 'a', scopes: ['read'] }, { tenant: 'acme' });
  const answers = [
    ...[await post(KEYS, request), await get(KEYS), await get(`${KEYS}/${key.id}`)],
    ...[await post(`${KEYS}/${key.id}/rotate`), await remove(`${KEYS}/${key.id}`)],
  ];
  expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual(answers.map(() => [403, 'forbidden']));
  expect(await waybill.keys!.list({ tenant: '*' })).toEqual([key]);
});

test('the admin of a tenant makes keys for that tenant only', async () => {
  const { post, get, waybill } = as({ id: 'a', tenant: 'acme', scopes: ['admin'] });
  expect((await post(KEYS, { ...request, tenant: 'acme' })).body.key).toMatchObject({ tenant: 'acme' });
  for (const tenant of ['*', 'beta', '']) expect((await post(KEYS, { ...request, tenant })).status).toBe(403);
  expect((await get(`${KEYS}?tenant=*`)).status).toBe(403);
  expect(await waybill.keys!.list({ tenant: '*' })).toHaveLength(1);
});

test.each<[string, string, unknown, string]>([
  ['POST', KEYS, { ...request, expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
  ['POST', KEYS, { ...request, types: ['a.b'] }, 'types'],
  ['POST', KEYS, { ...request, expiresAt: '2100-01-01T00:00:00Z' }, 'expiresAt'],
  ['POST', `${KEYS}/abcdefghjkmn/rotate`, { keep_old: '1h' }, 'keep_old'],
  ['POST', `${KEYS}/abcdefghjkmn/rotate`, { keep_old: 'P400D' }, 'keep_old'],
  ['POST', `${KEYS}/abcdefghjkmn/rotate`, { keepOld: 'PT1H' }, 'keepOld'],
  ['GET', `${KEYS}?tenat=*`, undefined, 'tenat'],
])('%s %s refuses %o for its %s', async (method, path, body, field) => {
  const { raw, waybill } = harness();
  const headers = { 'Content-Type': 'application/json' };
  const { status, body: refused } = await raw(method, path, {
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect([status, refused.error.details.field]).toEqual([400, field]);
  expect(await waybill.keys!.list({ tenant: '*' })).toEqual([]);
});

test('a secret in the address is neither quoted nor looked up', async () => {
  const { post, get, log } = harness();
  const { secret } = (await post(KEYS, request)).body;
  const { status, body } = await get(`${KEYS}/${secret}`);
  expect([status, body.error.message]).toEqual([404, 'There is no key with this id.']);
  expect(JSON.stringify([body, log])).not.toContain(secret.slice(-43));
});

test('a server without keys of its own says so', async () => {
  const { waybill } = harness();
  const { keys: _, ...without } = waybill;
  const { get } = harness({ waybill: without });
  expect((await get(KEYS)).body.error).toMatchObject({ code: 'unsupported' });
});
