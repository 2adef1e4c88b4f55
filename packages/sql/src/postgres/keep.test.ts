import { settleChange, versionChange } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { postgresStore } from './store.ts';
import { execute, postgresUrl, tempSchema, tempStore } from './testing/server.ts';
import { add, claim, complete } from './testing/work.ts';

async function forgetfulStore() {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const store = await tempStore(postgresStore, { url, schema, listen: false });
  await store.queues.setKeep('', 'default', 'none');
  const rows = async (table: string): Promise<number> =>
    Number((await execute(url, `select count(*) from "${schema}".${table}`))[0]![0]);
  return { store, rows };
}

test('of a job of a queue that forgets nothing is left when it has completed', async () => {
  const { store, rows } = await forgetfulStore();
  const [job] = await add(store, 3);
  expect([await rows('jobs_live'), await rows('job_bodies')]).toEqual([3, 3]);
  expect(await store.insert([{ jobs: [{ job: job!, events: [] }] }])).toEqual([{ status: 'exists', index: 0, job }]);
  await complete(store, await claim(store, 3));
  const tables = ['jobs_live', 'job_bodies', 'job_ends', 'event_segments'];
  expect(await Promise.all(tables.map(rows))).toEqual([0, 0, 0, 0]);
});

test('one that does not complete becomes an end like any other, and may come back to life', async () => {
  const { store, rows } = await forgetfulStore();
  const [job] = await add(store, 1, { spec: { args: [{ to: 'ada' }], meta: {} }, idempotencyKey: 'k' });
  const [running] = await claim(store, 1);
  const outcome = { kind: 'discarded', error: { code: 'boom', message: '' }, deadLetter: true } as const;
  const change = settleChange(running!, outcome, store.clock.now());
  await store.apply([change]);
  expect([await rows('jobs_live'), await rows('job_bodies'), await rows('job_ends')]).toEqual([0, 1, 1]);
  expect(await store.get([job!])).toEqual([change.job]);
  const replay = versionChange(change.job, { do: 'replay' }, store.clock.now())!;
  expect(await store.apply([replay])).toMatchObject([{ status: 'applied' }]);
  expect(await claim(store, 1)).toMatchObject([{ id: job!.id, run: 2, spec: { args: [{ to: 'ada' }] } }]);
});

test('what began before a queue forgets or keeps again ends as the queue is then', async () => {
  const { store, rows } = await forgetfulStore();
  await add(store, 1);
  await store.queues.setKeep('', 'default', 'all');
  await complete(store, await claim(store, 1));
  expect([await rows('job_bodies'), await rows('job_ends')]).toEqual([1, 1]);
  await add(store, 1);
  await store.queues.setKeep('', 'default', 'none');
  await complete(store, await claim(store, 1));
  expect([await rows('job_bodies'), await rows('job_ends')]).toEqual([1, 1]);
});
