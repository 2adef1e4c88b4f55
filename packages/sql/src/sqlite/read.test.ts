import { JOB_STATES } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import { add, claimRequest, openStore } from './testing/temp-store.ts';

describe('list', () => {
  it('finds the same jobs whether a state has few rows or many', async () => {
    const store = await openStore({ path: ':memory:' });
    await store.limits.set('', 'k', { concurrency: 1, rate: null }, Date.now());
    const few = await add(store, { queue: 'a' }, { queue: 'b', limitKey: 'k' }, { queue: 'a', limitKey: 'k' });
    const filter = { tenant: '', states: ['available'], queues: ['a', 'b'] } as const;
    const newest = few.map(({ id }) => id).reverse();
    expect((await store.list({ filter, limit: 10 })).items.map(({ id }) => id)).toEqual(newest);

    const many = await add(store, ...Array.from({ length: 2500 }, () => ({ queue: 'b' })));
    const { items, cursor } = await store.list({ filter, limit: 2499 });
    expect(items[0]!.id).toBe(many.at(-1)!.id);
    const rest = await store.list({ filter, limit: 10, cursor: cursor! });
    expect(rest.items.map(({ id }) => id)).toEqual([many[0]!.id, ...newest]);
    expect(rest.cursor).toBeUndefined();
    expect(await store.count(filter, { atMost: 9999 })).toBe(2503);
    expect(await store.count({ ...filter, queues: ['a'] }, { atMost: 9999 })).toBe(2);
  });

  it('has a way to the rows of every state alone and of all together', async () => {
    const store = await openStore({ path: ':memory:' });
    await add(store, {}, { state: 'pending' }, { scheduledAt: Date.now() + 1e6 });
    const found = async (states: readonly (typeof JOB_STATES)[number][]) => ({
      list: (await store.list({ filter: { tenant: '', states }, limit: 10 })).items.length,
      count: await store.count({ tenant: '', states }, { atMost: 10 }),
    });
    for (const state of JOB_STATES) {
      const expected = ['available', 'pending', 'scheduled'].includes(state) ? 1 : 0;
      expect(await found([state]), state).toEqual({ list: expected, count: expected });
    }
    expect(await found(JOB_STATES)).toEqual({ list: 3, count: 3 });
    expect(await found(JOB_STATES.filter((state) => state !== 'completed'))).toEqual({ list: 3, count: 3 });
    // The running one is due some day too, but counts once.
    await store.claim([claimRequest('c')]);
    expect(await found(['active', 'scheduled', 'retryable'])).toEqual({ list: 2, count: 2 });
    expect(await found([])).toEqual({ list: 0, count: 0 });
  });
});
