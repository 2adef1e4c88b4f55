import type { Job, Store } from '@waybill/core';
import { expect, test } from 'vitest';
import { postgresStore } from './store.ts';
import { bundledStore } from './testing/bundled.ts';
import { postgresUrl, tempSchema, tempStore } from './testing/server.ts';
import { add, claim, complete } from './testing/work.ts';

const JOBS = 120;
const MOST = 4;
const QUEUES = ['default', 'other', 'third'];

async function someStores(count: number): Promise<Store[]> {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const stores: Store[] = [];
  for (let made = 0; made < count; made += 1) {
    stores.push(await tempStore(postgresStore, { url, schema, listen: false, poolSize: 4 }));
  }
  return stores;
}

/** In another order for each worker, and every third time by id, as a hint does it. */
async function take(store: Store, turn: number): Promise<Job[]> {
  const queues = QUEUES.map((_, index) => QUEUES[(index + turn) % QUEUES.length]!);
  if (turn % 3 !== 0) return claim(store, 3, { queues });
  const { items } = await store.list({ filter: { tenant: '', states: ['available'] }, limit: 5 });
  const lease = { claimId: `hinted-${process.pid}-${turn}`, workerId: 'w', leaseMs: 30_000, now: store.clock.now() };
  const answers = await store.claimById({ tenant: '', ids: items.map(({ id }) => id), ...lease });
  return answers.flatMap((answer) => (answer.status === 'claimed' ? [answer.job] : []));
}

// fault: nine workers on three connection pools at once, each with the queues in another order
test('guarantee 7: a tenant’s limit holds across processes, queues and connections', { timeout: 60_000 }, async () => {
  const stores = await someStores(3);
  await stores[0]!.queues.setTenantLimit('', MOST);
  await stores[0]!.queues.setLimit('', 'other', { concurrency: 2, rate: null });
  await Promise.all(QUEUES.map((queue, index) => add(stores[index]!, JOBS / 3, { queue })));
  let [done, most, turns] = [0, 0, 0];
  const work = async (store: Store) => {
    while (done < JOBS) {
      const jobs = await take(store, ++turns);
      most = Math.max(most, await store.count({ tenant: '', states: ['active'] }, { atMost: 100 }));
      await complete(store, jobs);
      done += jobs.length;
    }
  };
  await Promise.all(Array.from({ length: 9 }, (_, index) => work(stores[index % stores.length]!)));
  expect(done).toBe(JOBS);
  expect(most).toBeLessThanOrEqual(MOST);
});

test('runs in bundles count, and under a limit there are no new ones', async () => {
  const { store } = await bundledStore();
  await add(store, 12);
  const bundled = await claim(store, 6);
  expect(bundled).toHaveLength(6);
  await store.queues.setTenantLimit('', 8);
  expect(await claim(store, 6)).toHaveLength(2);
  expect(await claim(store, 6)).toEqual([]);
  await complete(store, bundled.slice(0, 3));
  expect(await claim(store, 6)).toHaveLength(3);
});
