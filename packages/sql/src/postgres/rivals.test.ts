import type { Job, Store } from '@waybill/core';
import { aCron, aJob, type JobOverrides, versionChange } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { bundledStore, holdUp, untilWaiting } from './testing/bundled.ts';

/**
 * Lets two transactions meet: neither can write its events before both have come as far as their locks let them. So the
 * second one must wait with its decision until the first one has committed.
 */
async function meet<T>(store: Awaited<ReturnType<typeof bundledStore>>, act: () => Promise<T>): Promise<T[]> {
  const letGo = await holdUp(store, 'event_segments');
  const answers: Promise<T>[] = [];
  for (const count of [1, 2]) {
    answers.push(act());
    await untilWaiting(store, count);
  }
  await letGo();
  return Promise.all(answers);
}

const newJob = (store: Store, overrides: JobOverrides = {}) => aJob({ createdAt: store.clock.now(), ...overrides });

// fault: two transactions have begun before either of them commits
test('guarantee 9: of two servers that fire a tick at the same time, one does', async () => {
  const bundled = await bundledStore();
  const { store } = bundled;
  const cron = await store.crons.put(aCron());
  const { tenant, name, version } = cron;
  const tick = cron.nextAt!;
  const answers = await meet(bundled, () => {
    const expected = { version, nextAt: tick };
    return store.crons.fire({ tenant, name, expected, nextAt: tick + 60_000, tick, job: newJob(store) });
  });
  expect(answers.map(({ status }) => status).sort()).toEqual(['fired', 'lost']);
  expect(await store.crons.get(tenant, name)).toMatchObject({ runs: 1 });
  expect(await store.count({ tenant }, { atMost: 10 })).toBe(1);
});

// fault: two transactions have begun before either of them commits
test('guarantee 7: of two inserts that follow the same owner of a unique key, one does', async () => {
  const bundled = await bundledStore();
  const { store } = bundled;
  const key = 'u';
  const first = newJob(store, { uniqueKey: key });
  await store.insert([{ jobs: [{ ...first, unique: { key, owner: null } }] }]);
  await store.apply([versionChange(first.job, { do: 'cancel' }, store.clock.now())!]);
  const [owner] = (await store.get([first.job])) as [Job];
  const answers = await meet(bundled, () =>
    store.insert([{ jobs: [{ ...newJob(store, { uniqueKey: key }), unique: { key, owner } }] }]),
  );
  expect(
    answers
      .flat()
      .map(({ status }) => status)
      .sort(),
  ).toEqual(['inserted', 'taken']);
  expect(await store.count({ tenant: '', states: ['available'] }, { atMost: 10 })).toBe(1);
});

// fault: two transactions have begun before either of them commits
test('guarantee 7: of two inserts under a limit of one, one gets the slot', async () => {
  const bundled = await bundledStore();
  const { store } = bundled;
  await store.limits.set('', 'k', { concurrency: 1, rate: null }, store.clock.now());
  await meet(bundled, () => store.insert([{ jobs: [newJob(store, { limitKey: 'k' })] }]));
  expect(await store.limits.get('', 'k')).toMatchObject({ holders: 1, parked: 1 });
  const { items } = await store.list({ filter: { tenant: '' }, limit: 10 });
  expect(items.map(({ holdsSlot }) => holdsSlot).sort()).toEqual([false, true]);
});
