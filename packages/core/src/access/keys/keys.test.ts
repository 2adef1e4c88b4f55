import { expect, test } from 'vitest';
import { SYSTEM_TENANT } from '../../store/records.ts';
import { testEngine } from '../../testing/test-engine.ts';
import { KEY_CACHED_MS } from './key-cache.ts';

const request = { name: 'ci', scopes: ['enqueue'] } as const;

test('whoever shows the secret is the holder, and only the hash of it is stored', async () => {
  const { waybill, store } = testEngine();
  const { key, secret } = await waybill.keys!.create(
    { ...request, queues: ['mail'], requestsPerMinute: 10 },
    { tenant: 'acme', by: 'root' },
  );
  expect(key).toMatchObject({ name: 'ci', tenant: 'acme', createdBy: 'root', lastUsedAt: null });
  expect(secret).toMatch(new RegExp(`^wb_${key.id}_[\\w-]{43}$`));
  expect(await waybill.keys!.identify(secret)).toEqual({
    principal: { id: key.id, tenant: 'acme', scopes: ['enqueue'], queues: ['mail'] },
    ...{ name: 'ci', requestsPerMinute: 10, expiresAt: null },
  });
  const stored = await store.records.list({ tenant: SYSTEM_TENANT, kind: 'key', limit: 10 });
  const log = await waybill.events.read({ filter: { tenant: '*' } });
  expect(log.events.map(({ type }) => type)).toEqual(['key.created']);
  expect(JSON.stringify([stored, log])).not.toContain(secret.slice(-43));
});

test('what is no secret, of no key, or of another one, is nobody', async () => {
  const { waybill } = testEngine();
  const { secret } = await waybill.keys!.create(request);
  const other = await waybill.keys!.create(request);
  const mixed = `wb_${other.key.id}_${secret.slice(-43)}`;
  for (const text of ['', 'wb_', mixed, `${secret}x`, ` ${secret}`, `wb_aaaaaaaaaaaa_${secret.slice(-43)}`])
    expect(await waybill.keys!.identify(text)).toBeNull();
});

test('a revoked key counts no more, here at once and elsewhere after a few seconds', async () => {
  const { waybill, store, clock } = testEngine();
  const elsewhere = testEngine({ on: store, clock }).waybill;
  const { key, secret } = await waybill.keys!.create(request);
  expect(await elsewhere.keys!.identify(secret)).not.toBeNull();
  expect(await waybill.keys!.revoke(key.id)).toMatchObject({ revokedAt: clock.now() });
  expect(await waybill.keys!.identify(secret)).toBeNull();
  await clock.advance(KEY_CACHED_MS);
  expect(await elsewhere.keys!.identify(secret)).toBeNull();
  await expect(waybill.keys!.rotate(key.id)).rejects.toMatchObject({ code: 'conflict' });
});

test('after a rotation the new secret counts, and the old one for as long as was said', async () => {
  const { waybill, clock } = testEngine();
  const { key, secret: first } = await waybill.keys!.create(request);
  const { secret: second } = await waybill.keys!.rotate(key.id, { keepOldMs: 60_000 });
  expect(await Promise.all([first, second].map(waybill.keys!.identify))).not.toContain(null);
  await clock.advance(60_000);
  expect(await waybill.keys!.identify(first)).toBeNull();
  const { secret: third } = await waybill.keys!.rotate(key.id);
  expect(await Promise.all([first, second].map(waybill.keys!.identify))).toEqual([null, null]);
  expect(await waybill.keys!.identify(third)).not.toBeNull();
});

test('a key ends when it expires, and is listed a while longer', async () => {
  const { waybill, clock } = testEngine({ maintenance: false });
  const { key, secret } = await waybill.keys!.create({ ...request, expiresAt: clock.now() + 90 * 86_400_000 });
  await clock.advance(90 * 86_400_000);
  expect(await waybill.keys!.identify(secret)).toBeNull();
  expect(await waybill.keys!.list()).toMatchObject([{ id: key.id }]);
  await clock.advance(31 * 86_400_000);
  expect(await waybill.keys!.list()).toEqual([]);
});

test('the last use is noted, once in a minute', async () => {
  const { waybill, clock } = testEngine();
  const { key, secret } = await waybill.keys!.create(request);
  const usedAt = async () => (await waybill.keys!.get(key.id)).lastUsedAt;
  const first = clock.now();
  await waybill.keys!.identify(secret);
  // Nobody waits for the note.
  await expect.poll(usedAt).toBe(first);
  await clock.advance(30_000);
  await waybill.keys!.identify(secret);
  expect(await usedAt()).toBe(first);
  await clock.advance(30_000);
  await waybill.keys!.identify(secret);
  await expect.poll(usedAt).toBe(clock.now());
});

test('a store that is away refuses nobody for longer than it is away', async () => {
  const { waybill } = testEngine({ faults: [{ method: 'records.get', call: 1, when: 'before' }] });
  const { secret } = await waybill.keys!.create(request);
  await expect(waybill.keys!.identify(secret)).rejects.toThrow();
  expect(await waybill.keys!.identify(secret)).not.toBeNull();
});

test.each([
  [{ ...request, scopes: [] }, 'scopes'],
  [{ ...request, scopes: ['root'] }, 'scopes'],
  [{ ...request, name: '' }, 'name'],
  [{ ...request, queues: [] }, 'queues'],
  [{ ...request, scopes: ['work'], types: ['a'] }, 'types'],
  [{ ...request, expiresAt: 1 }, 'expiresAt'],
  [{ ...request, requestsPerMinute: 0 }, 'requestsPerMinute'],
  [{ ...request, scope: 'read' }, 'scope'],
])('%o is refused for its %s', async (bad, field) => {
  const { waybill } = testEngine();
  await expect(waybill.keys!.create(bad as never)).rejects.toMatchObject({
    code: 'invalid_request',
    details: { field },
  });
  expect(await waybill.keys!.list()).toEqual([]);
});

test('keys of all tenants are for whoever says so', async () => {
  const { waybill, clock } = testEngine();
  await waybill.keys!.create({ name: 'root', scopes: ['admin'] }, { tenant: '*' });
  await clock.advance(1);
  await waybill.keys!.create(request, { tenant: 'acme' });
  expect(await waybill.keys!.list()).toEqual([]);
  expect((await waybill.keys!.list({ tenant: '*' })).map(({ tenant }) => tenant)).toEqual(['*', 'acme']);
});

test('of two rotations at the same time one wins, and its secret is the one that counts', async () => {
  const { waybill } = testEngine();
  const { key, secret: first } = await waybill.keys!.create(request);
  const rotations = await Promise.allSettled([waybill.keys!.rotate(key.id), waybill.keys!.rotate(key.id)]);
  const [won, lost] = rotations.sort((one) => (one.status === 'fulfilled' ? -1 : 1));
  expect(lost).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } });
  const { secret } = (won as PromiseFulfilledResult<{ secret: string }>).value;
  expect(await waybill.keys!.identify(secret)).toMatchObject({ principal: { id: key.id } });
  expect(await waybill.keys!.identify(first)).toBeNull();
});

test('a key that has expired cannot be rotated, and keeps its secret', async () => {
  const { waybill, clock } = testEngine({ maintenance: false });
  const { key } = await waybill.keys!.create({ ...request, expiresAt: clock.now() + 1_000 });
  await clock.advance(1_000);
  await expect(waybill.keys!.rotate(key.id)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('has expired'),
  });
  expect(await waybill.keys!.get(key.id)).toMatchObject({ rotatedAt: null });
});

test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '1h'])('keepOldMs: %s is refused', async (keepOldMs) => {
  const { waybill } = testEngine();
  const { key, secret } = await waybill.keys!.create(request);
  const call = waybill.keys!.rotate(key.id, { keepOldMs: keepOldMs as number });
  await expect(call).rejects.toMatchObject({ code: 'invalid_request', details: { field: 'keepOldMs' } });
  expect(await waybill.keys!.identify(secret)).not.toBeNull();
});

test('a secret that is given for an id is not quoted', async () => {
  const { waybill } = testEngine();
  const { secret } = await waybill.keys!.create(request);
  for (const id of [secret, `${secret} `, 'x'.repeat(10_000), '', 7 as never]) {
    const error = await waybill.keys!.revoke(id).catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({ code: 'not_found', message: 'There is no key with this id.' });
    expect(JSON.stringify(error)).not.toContain(secret.slice(-43));
  }
  expect(await waybill.keys!.identify(secret)).not.toBeNull();
});

test('notes of last use that cannot be read cost no list of keys', async () => {
  const { waybill } = testEngine({ faults: [{ method: 'records.get', call: 1, when: 'before' }] });
  const [one, other] = [await waybill.keys!.create(request), await waybill.keys!.create(request)];
  const ids = (await waybill.keys!.list()).map(({ id }) => id);
  expect(ids.sort()).toEqual([one.key.id, other.key.id].sort());
});

test('types are held to what a type can be, and both lists to a size that every store takes', async () => {
  const { waybill } = testEngine();
  const many = (name: string) => Array.from({ length: 101 }, () => name);
  for (const [bad, field] of [
    [{ types: ['Not Valid'] }, 'types[0]'],
    [{ types: many('a.b') }, 'types'],
    [{ queues: many('a') }, 'queues'],
  ] as const)
    await expect(waybill.keys!.create({ ...request, ...bad })).rejects.toMatchObject({ details: { field } });
});

test('a key for metrics is for all of them: one for a tenant, a queue or a type is refused', async () => {
  const { waybill } = testEngine();
  const create = (tenant: string, more: object = {}) =>
    waybill.keys!.create({ name: 'prometheus', scopes: ['metrics'], ...more }, { tenant });
  const refused = {
    code: 'invalid_request',
    message: expect.stringContaining("'metrics' only in a key for all tenants"),
  };
  await expect(create('')).rejects.toMatchObject(refused);
  await expect(create('acme', { scopes: ['read', 'metrics'] })).rejects.toMatchObject(refused);
  await expect(create('*', { queues: ['mail'] })).rejects.toMatchObject(refused);
  await expect(create('*', { types: ['a.b'] })).rejects.toMatchObject(refused);
  expect(await create('*')).toMatchObject({ key: { scopes: ['metrics'] } });
  expect(await waybill.keys!.list({ tenant: '*' })).toHaveLength(1);
});
