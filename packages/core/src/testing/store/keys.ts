import { describe, expect, it } from 'vitest';
import { keyBook } from '../../access/keys/key-book.ts';
import { KEY_CACHED_MS } from '../../access/keys/key-cache.ts';
import { type RecordStore, SYSTEM_TENANT } from '../../store/records.ts';
import type { Keys } from '../../waybill.ts';
import type { Bench, OpenBench } from './bench.ts';

const request = { name: 'ci', scopes: ['enqueue', 'read'], queues: ['mail'] } as const;

/** The keys as one server sees them: each has a cache of its own. */
const aServer = ({ store }: Bench): Keys => keyBook({ store, onTold: () => {} });

/** Servers that have all read the key before the first of them writes it. */
function rivals({ store: { records, clock } }: Bench, count: number): Keys[] {
  const all = Promise.withResolvers<void>();
  let reads = 0;
  const gated: RecordStore = {
    get: async (keys) => {
      const found = await records.get(keys);
      reads += 1;
      if (reads === count) all.resolve();
      await all.promise;
      return found;
    },
    put: (requests) => records.put(requests),
    list: (query) => records.list(query),
    remove: (key, expected, told) => records.remove(key, expected, told),
  };
  return Array.from({ length: count }, () => keyBook({ store: { records: gated, clock }, onTold: () => {} }));
}

const keyRecord = (id: string, kind = 'key') => ({ tenant: SYSTEM_TENANT, kind, id });

/** API keys are records and no verb of the store. They are here because a fault in them lets strangers in. */
export function testKeys(open: OpenBench): void {
  describe('keys', () => {
    it('a key made on one server is known on another, and its secret is stored nowhere', async () => {
      const bench = await open();
      const [here, there] = [aServer(bench), aServer(bench)];
      const expiresAt = bench.now + 60_000;
      const { key, secret } = await here.create({ ...request, expiresAt }, { tenant: 'acme', by: 'root' });
      expect(await there.identify(secret)).toEqual({
        principal: { id: key.id, tenant: 'acme', scopes: ['enqueue', 'read'], queues: ['mail'] },
        ...{ name: 'ci', expiresAt },
      });
      expect(await there.get(key.id, { tenant: 'acme' })).toMatchObject({ createdBy: 'root', revokedAt: null });
      const stored = await bench.store.records.list({ tenant: SYSTEM_TENANT, kind: 'key', limit: 10 });
      const log = await bench.log();
      expect(log.map(({ type }) => type)).toEqual(['key.created']);
      expect(JSON.stringify([stored, log])).not.toContain(secret.slice(-43));
      await bench.clock.advance(60_000);
      expect(await there.identify(secret)).toBeNull();
    });

    it('a key that is revoked on one server is refused by the others within 5 seconds', async () => {
      const bench = await open();
      const [here, there] = [aServer(bench), aServer(bench)];
      const { key, secret } = await here.create(request);
      expect(await there.identify(secret)).not.toBeNull();
      await here.revoke(key.id);
      expect(await here.identify(secret)).toBeNull();
      expect(KEY_CACHED_MS).toBeLessThanOrEqual(5_000);
      await bench.clock.advance(5_000);
      expect(await there.identify(secret)).toBeNull();
      expect((await bench.log()).map(({ type }) => type)).toEqual(['key.created', 'key.revoked']);
    });

    it('a rotation ends the old secret everywhere, at once or when it was said', async () => {
      const bench = await open();
      const [here, there] = [aServer(bench), aServer(bench)];
      const { key, secret: first } = await here.create(request);
      const { secret: second } = await here.rotate(key.id, { keepOldMs: 60_000 });
      for (const secret of [first, second]) expect(await there.identify(secret)).not.toBeNull();
      await bench.clock.advance(60_000);
      expect(await there.identify(first)).toBeNull();
      const { secret: third } = await there.rotate(key.id);
      await bench.clock.advance(5_000);
      expect(await Promise.all([first, second, third].map((secret) => here.identify(secret)))).toEqual([
        ...[null, null],
        expect.objectContaining({ name: 'ci' }),
      ]);
    });

    it('of rotations at the same time one wins, and its secret alone counts', async () => {
      const bench = await open();
      const { key, secret: first } = await aServer(bench).create(request);
      const tries = await Promise.allSettled(rivals(bench, 3).map((server) => server.rotate(key.id)));
      const won = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value.secret] : []));
      const lost = tries.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
      expect([won.length, lost]).toEqual([1, ['conflict', 'conflict']]);
      const server = aServer(bench);
      expect(await server.identify(won[0]!)).toMatchObject({ principal: { id: key.id } });
      expect(await server.identify(first)).toBeNull();
    });

    it('of a revocation and a rotation at the same time one wins, and the other is told of it', async () => {
      const bench = await open();
      const { key, secret: first } = await aServer(bench).create(request);
      const [one, other] = rivals(bench, 2) as [Keys, Keys];
      const [revoked, rotated] = await Promise.allSettled([one.revoke(key.id), other.rotate(key.id)]);
      const isRevoked = revoked.status === 'fulfilled';
      expect((await aServer(bench).get(key.id)).revokedAt !== null).toBe(isRevoked);
      expect(isRevoked ? rotated : revoked).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } });
      expect(await aServer(bench).identify(first)).toBeNull();
    });

    it('the last use is noted and listed, for keys of all tenants', async () => {
      const bench = await open();
      const [here, there] = [aServer(bench), aServer(bench)];
      const { key, secret } = await here.create(request, { tenant: 'acme' });
      await bench.clock.advance(1);
      await here.create(request, { tenant: '*' });
      const usedAt = bench.now;
      await there.identify(secret);
      // Nobody waits for the note.
      await expect.poll(async () => (await here.get(key.id, { tenant: 'acme' })).lastUsedAt).toBe(usedAt);
      const all = await here.list({ tenant: '*' });
      expect(all.map(({ tenant, lastUsedAt }) => [tenant, lastUsedAt])).toEqual([
        ['acme', usedAt],
        ['*', null],
      ]);
      expect((await here.list({ tenant: 'acme' })).map(({ id }) => id)).toEqual([key.id]);
      expect(await here.list()).toEqual([]);
    });

    it('a damaged key is nobody’s, and keeps no other from being used and listed', async ({ skip }) => {
      const bench = await open();
      const { damage } = bench;
      skip(damage === undefined, 'nothing but the store gets at its rows');
      const server = aServer(bench);
      const [bad, good] = [await server.create(request), await server.create(request)];
      await server.identify(good.secret);
      await expect.poll(async () => (await server.get(good.key.id)).lastUsedAt).not.toBeNull();
      await damage!.record(keyRecord(bad.key.id));
      await damage!.record(keyRecord(good.key.id, 'key-use'));
      const later = aServer(bench);
      await expect(later.identify(bad.secret)).rejects.toThrow();
      expect(await later.identify(good.secret)).not.toBeNull();
      expect(await later.list()).toMatchObject([{ id: good.key.id, lastUsedAt: null }]);
    });
  });
}
