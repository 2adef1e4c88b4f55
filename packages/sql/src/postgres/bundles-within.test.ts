import type { Job } from '@waybill/core';
import { settleChange, someJobs, versionChange } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { bundledStore } from './testing/bundled.ts';
import { tempClient } from './testing/server.ts';
import { add, claim, complete } from './testing/work.ts';

const COMPLETED = { kind: 'completed', result: null } as const;

test.each([
  ['a run of the same bundle', ({ queue, visibilityMs }: Job) => queue === 'default' && visibilityMs === null],
  ['a run of the same claim in another queue', ({ queue }: Job) => queue === 'other'],
  ['a run of the same claim with a row', ({ visibilityMs }: Job) => visibilityMs !== null],
])('a settle in an open transaction does not hold up heartbeats: %s', async (_, isSettled) => {
  const { store, clock, url, rows } = await bundledStore();
  await add(store, 3);
  await add(store, 1, { queue: 'other' });
  await add(store, 1, { visibilityMs: 30_000 });
  const jobs = await claim(store, 5, { queues: ['default', 'other'] });
  expect(await rows('bundles', 'jobs_live')).toEqual([2, 1]);
  const settled = jobs.find(isSettled)!;
  const client = await tempClient(url);
  await client.query('begin');
  expect(await store.within!(client).apply([settleChange(settled, COMPLETED, clock.now())])).toMatchObject([
    { status: 'applied' },
  ]);
  const others = jobs.filter(({ id }) => id !== settled.id);
  const beat = ({ id, run, claimId }: Job) => ({ id, by: { run, claimId: claimId! }, leaseMs: 60_000 });
  const answers = await store.extend(others.map((job) => ({ tenant: '', ...beat(job), now: clock.now() })));
  expect(answers.map(({ status }) => status)).toEqual(others.map(() => 'extended'));
  await client.query('commit');
  expect(await store.get([settled])).toMatchObject([{ state: 'completed' }]);
});

test('a job that replaces a running one in an open transaction does not hold up its neighbours', async () => {
  const { store, clock, url } = await bundledStore();
  const [first, second] = someJobs(2, { createdAt: clock.now(), uniqueKey: 'u' });
  await store.insert([{ jobs: [{ ...first!, unique: { key: 'u', owner: null } }] }]);
  await add(store, 1);
  const [owner, neighbour] = (await claim(store, 2)) as [Job, Job];
  const replace = versionChange(owner, { do: 'cancel' }, clock.now())!;
  const unique = { key: 'u', owner: { id: owner.id, version: owner.version }, replace };
  const client = await tempClient(url);
  await client.query('begin');
  const inserted = await store.within!(client).insert([{ jobs: [{ ...second!, unique }] }]);
  expect(inserted).toMatchObject([{ status: 'inserted' }]);
  await complete(store, [neighbour]);
  await client.query('commit');
  expect(await store.get([owner, neighbour])).toMatchObject([{ state: 'cancelled' }, { state: 'completed' }]);
});
