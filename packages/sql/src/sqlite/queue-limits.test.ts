import { DatabaseSync } from 'node:sqlite';
import type { Job, Store } from '@waybill/core';
import { settleChange } from '@waybill/core/testing';
import { describe, expect, it } from 'vitest';
import { add, claimRequest, inChild, lock, openStore, tempFile } from './testing/temp-store.ts';

const claim = async (store: Store, claimId: string, limit = 10): Promise<Job[]> =>
  (await store.claim([claimRequest(claimId, limit)]))[0]!;

const complete = (store: Store, ...jobs: Job[]) =>
  store.apply(jobs.map((job) => settleChange(job, { kind: 'completed', result: null }, Date.now())));

function activeIn(path: string): unknown {
  const db = new DatabaseSync(path, { readOnly: true });
  const row = db.prepare("select active from queues where name = 'default'").get();
  db.close();
  return row?.['active'];
}

describe('the limit of a queue in a shared file', () => {
  it('holds for every process, and its count stays true whoever sets, claims and settles', async () => {
    const path = tempFile();
    const [one, two] = [await openStore({ path }), await openStore({ path })];
    await add(one, ...Array.from({ length: 8 }, () => ({})));
    const early = await claim(one, 'early', 2);
    expect(activeIn(path)).toBe(0);
    await two.queues.setLimit('', 'default', { concurrency: 3, rate: null });
    expect(activeIn(path)).toBe(2);
    const more = await claim(one, 'more');
    expect(more).toHaveLength(1);
    expect(await claim(two, 'none')).toEqual([]);
    // This process has not heard of the limit by any call of its own, yet what it settles counts.
    await complete(one, ...early);
    expect(activeIn(path)).toBe(1);
    expect(await claim(two, 'others')).toHaveLength(2);
    await one.queues.setLimit('', 'default', null);
    await complete(two, ...more);
    expect(activeIn(path)).toBe(0);
    await two.queues.setLimit('', 'default', { concurrency: 5, rate: null });
    expect(activeIn(path)).toBe(2);
    expect(await one.queues.stats('', 'default', { atMost: 100 })).toMatchObject({ active: 2, completed: 3 });
  });

  it('a failing call that shares a transaction leaves no trace in counts and totals', async () => {
    const path = tempFile();
    const store = await openStore({ path });
    await store.queues.setLimit('', 'default', { concurrency: 5, rate: null });
    await add(store, {}, {}, {});
    const [first, second, third] = await claim(store, 'c');
    const other = lock(path);
    const good = complete(store, first!);
    const now = Date.now();
    const bad = store.apply([
      settleChange(second!, { kind: 'completed', result: null }, now),
      settleChange({ ...third!, version: 0.5 }, { kind: 'completed', result: null }, now),
    ]);
    other.release();
    await expect(bad).rejects.toMatchObject({ code: 'internal' });
    expect(await good).toMatchObject([{ status: 'applied' }]);
    expect(await store.queues.stats('', 'default', { atMost: 100 })).toMatchObject({ active: 2, completed: 1 });
    expect(activeIn(path)).toBe(2);
  });
});

describe('the limit of a tenant in a shared file', () => {
  // fault: four processes claim at once
  it('guarantee 7: holds for every process, and its count stays true', { timeout: 60_000 }, async () => {
    const path = tempFile();
    const store = await openStore({ path });
    const queues = ['a', 'b'];
    await add(store, ...Array.from({ length: 40 }, (_, index) => ({ queue: queues[index % 2]! })));
    const early = (await store.claim([{ ...claimRequest('early', 1), queues }]))[0]!;
    await store.queues.setTenantLimit('', 5);
    const take = (name: string) => `
      const store = await sqliteStore({ path });
      let taken = 0;
      for (let turn = 0; turn < 20; turn++) {
        const lease = { claimId: '${name}-' + turn, workerId: 'w', leaseMs: 600_000, now: Date.now() };
        const [jobs] = await store.claim([{ tenant: '', queues: [turn % 2 ? 'a' : 'b'], limit: 1, ...lease }]);
        taken += jobs.length;
      }
      await store.close();
      console.log(taken);`;
    const taken = await Promise.all(['p', 'q', 'r', 's'].map((name) => inChild(path, take(name))));
    expect(taken.reduce((sum, count) => sum + Number(count), 0)).toBe(4);
    await complete(store, ...early);
    expect((await store.claim([{ ...claimRequest('late'), queues }]))[0]).toHaveLength(1);
    expect((await store.claim([{ ...claimRequest('none'), queues }]))[0]).toEqual([]);
  });
});
