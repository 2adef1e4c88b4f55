import type { Store } from '@waybill/core';
import { expect, test } from 'vitest';
import { postgresStore } from './store.ts';
import { bundledStore, untilWaiting } from './testing/bundled.ts';
import { postgresUrl, tempClient, tempSchema, tempStore } from './testing/server.ts';
import { add, claim, complete } from './testing/work.ts';

const JOBS = 120;
const MOST = 4;

async function someStores(count: number): Promise<Store[]> {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const stores: Store[] = [];
  for (let made = 0; made < count; made += 1) {
    stores.push(await tempStore(postgresStore, { url, schema, listen: false, poolSize: 4 }));
  }
  return stores;
}

/** Works until everything is done; answers the most that were ever active at once. */
async function workOff(stores: readonly Store[], workers: number): Promise<number> {
  let [done, most] = [0, 0];
  const work = async (store: Store) => {
    while (done < JOBS) {
      const jobs = await claim(store, 3);
      most = Math.max(most, await store.count({ tenant: '', states: ['active'] }, { atMost: 100 }));
      await complete(store, jobs);
      done += jobs.length;
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, index) => work(stores[index % stores.length]!)));
  return most;
}

// fault: nine workers on three connection pools at once
test('guarantee 7: a key holds across processes and connections, and no slot is lost', {
  timeout: 60_000,
}, async () => {
  const stores = await someStores(3);
  await stores[0]!.limits.set('', 'k', { concurrency: MOST, rate: null }, stores[0]!.clock.now());
  await Promise.all(stores.map((store) => add(store, JOBS / 3, { limitKey: 'k' })));
  expect(await workOff(stores, 9)).toBeLessThanOrEqual(MOST);
  expect(await stores[1]!.limits.get('', 'k')).toMatchObject({ holders: 0, parked: 0 });
});

// fault: nine workers on three connection pools at once
test('guarantee 7: a queue’s limit holds across processes and connections', { timeout: 60_000 }, async () => {
  const stores = await someStores(3);
  await stores[0]!.queues.setLimit('', 'default', { concurrency: MOST, rate: null });
  await Promise.all(stores.map((store) => add(store, JOBS / 3)));
  expect(await workOff(stores, 9)).toBeLessThanOrEqual(MOST);
});

test('who has seen a queue without a limit learns of the rate that another process gives it', async () => {
  const [here, there] = await someStores(2);
  const opensAt = () => here!.opensAt!({ tenant: '', queues: ['default'], now: here!.clock.now() });
  await add(here!, 1);
  expect(await claim(here!, 5)).toHaveLength(1);
  expect(await opensAt()).toBeNull();
  await there!.queues.setLimit('', 'default', { concurrency: null, rate: { limit: 1, periodMs: 60_000 } });
  await add(there!, 3);
  expect(await claim(here!, 5)).toHaveLength(1);
  expect(await opensAt()).toBeGreaterThan(here!.clock.now());
});

test('a limit is noticed also where another claim of the same flush is a repetition', async () => {
  const [here, there] = await someStores(2);
  await add(here!, 1);
  const repeated = { claimId: 'again', workerId: 'worker-1', leaseMs: 30_000 };
  expect(await claim(here!, 5, repeated)).toHaveLength(1);
  await there!.queues.setLimit('', 'default', { concurrency: null, rate: { limit: 1, periodMs: 60_000 } });
  await add(there!, 3);
  const asked = { tenant: '', queues: ['default'], limit: 5, now: here!.clock.now() };
  const [, jobs] = await here!.claim([
    { ...asked, ...repeated },
    { ...asked, ...repeated, claimId: 'new' },
  ]);
  expect(jobs).toHaveLength(1);
  expect(await here!.opensAt!(asked)).toBeGreaterThan(asked.now);
});

test('claims that name queues with a limit in another order do not wait for each other', async () => {
  const bundled = await bundledStore();
  const { store, url, schema } = bundled;
  for (const queue of ['a', 'b']) await store.queues.setLimit('', queue, { concurrency: 1, rate: null });
  const rival = await tempClient(url);
  const lock = (queue: string) =>
    rival.query(`select from "${schema}".queues where name = $1 for update nowait`, [queue]);
  await rival.query('begin');
  await lock('a');
  const claimed = claim(store, 1, { queues: ['b', 'a'] });
  await untilWaiting(bundled, 1);
  await lock('b');
  await rival.query('commit');
  expect(await claimed).toEqual([]);
});
