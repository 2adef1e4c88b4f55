import type { Keys, Principal } from '@waybill/core';
import { inTenant } from '@waybill/core';
import { describe, expect, test } from 'vitest';
import { remoteHarness } from '../testing/remote-harness.ts';

const operator: Principal = { id: 'root', tenant: '*', scopes: ['admin'] };
const request = { name: 'ci', scopes: ['enqueue', 'read'], queues: ['mail'], types: ['a.b'] } as const;

/** Ids and secrets are new each time. */
const plain = <T extends { id: string }>({ id: _, ...key }: T) => key;

const codeOf = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    ({ code }: { code: string }) => code,
  );

async function scenario(keys: Keys, now: number) {
  const { key, secret } = await keys.create({ ...request, requestsPerMinute: 5, expiresAt: now + 60_000 });
  const rotated = await keys.rotate(key.id, { keepOldMs: 1_500 });
  return {
    key: plain(key),
    secrets: [secret, rotated.secret]
      .map((text) => text.replace(/[\w-]{43}$/, ''))
      .map((text) => text === `wb_${key.id}_`),
    listed: (await keys.list()).map(plain),
    got: plain(await keys.get(key.id)),
    rotated: plain(rotated.key),
    other: await keys.list({ tenant: 'other' }),
    elsewhere: await codeOf(keys.get(key.id, { tenant: 'other' })),
    revoked: plain(await keys.revoke(key.id)),
    ended: await codeOf(keys.rotate(key.id)),
    unknown: await codeOf(keys.get('abcdefghjkmn')),
    none: await codeOf(keys.create({ name: 'x', scopes: [] })),
    past: await codeOf(keys.create({ ...request, expiresAt: 1 })),
    misspelt: await codeOf(keys.create({ ...request, scope: 'read' } as never)),
    kept: await codeOf(keys.rotate(key.id, { keepOldMs: -1 })),
  };
}

describe.each(['', 'acme'])('for the tenant "%s"', (tenant) => {
  test('keys over HTTP answer what the engine answers', async () => {
    const [here, there] = [remoteHarness(), remoteHarness({}, { tenant })];
    const embedded = await scenario(inTenant(here.waybill, tenant).keys!, here.clock.now());
    expect(embedded).toMatchObject({
      key: { tenant },
      secrets: [true, true],
      elsewhere: 'not_found',
      kept: 'invalid_request',
    });
    expect(await scenario(there.client.keys!, there.clock.now())).toEqual(embedded);
  });
});

test('an operator asks about all tenants over HTTP as well', async () => {
  const { client, waybill } = remoteHarness({ principal: () => operator }, { tenant: 'acme' });
  const keys = client.keys!;
  const all = { tenant: '*' };
  const { key, secret } = await keys.create({ name: 'ops', scopes: ['admin'] }, all);
  const own = await keys.create(request);
  expect([key, own.key]).toMatchObject([
    { tenant: '*', createdBy: 'root' },
    { tenant: 'acme', createdBy: 'root' },
  ]);
  expect((await keys.list(all)).map(({ id }) => id).sort()).toEqual([key.id, own.key.id].sort());
  expect((await keys.list()).map(({ id }) => id)).toEqual([own.key.id]);
  expect(await codeOf(keys.get(key.id))).toBe('not_found');
  expect(await waybill.keys!.identify(secret)).not.toBeNull();
  expect((await keys.get(key.id, all)).id).toBe(key.id);
  const rotated = await keys.rotate(key.id, { ...all, keepOldMs: 60_000 });
  expect((await keys.revoke(key.id, all)).revokedAt).not.toBeNull();
  expect(await waybill.keys!.identify(rotated.secret)).toBeNull();
});

test('who shows a key is found out by servers only', async () => {
  const { client, sent } = remoteHarness();
  await expect(client.keys!.identify('wb_x')).rejects.toMatchObject({ code: 'unsupported' });
  expect(sent).toEqual([]);
});

test('a key is made once, though nobody knows whether it was', async () => {
  const { client, waybill, drop } = remoteHarness();
  drop('POST', 'after');
  await expect(client.keys!.create(request)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await waybill.keys!.list()).toHaveLength(1);
});
