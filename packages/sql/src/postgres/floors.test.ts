import { someJobs, TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { Floors } from './floors.ts';
import { postgresStore } from './store.ts';
import { postgresUrl, tempClient, tempSchema, tempStore } from './testing/server.ts';
import { add, claim, complete } from './testing/work.ts';

const idsOf = (jobs: readonly { id: string }[]): string[] => jobs.map(({ id }) => id);

async function twoStores() {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const clock = new TestClock();
  const open = () => tempStore(postgresStore, { url, schema, clock, listen: false });
  return { url, schema, clock, ours: await open(), theirs: await open() };
}

test('a job of this process that goes before the floor is given next', async () => {
  const { ours } = await twoStores();
  await add(ours, 20);
  expect(await claim(ours, 5)).toHaveLength(5);
  const [urgent] = await add(ours, 1, { priority: 9 });
  expect(idsOf(await claim(ours, 1))).toEqual([urgent!.id]);
});

test('a job of another process that goes before the floor is given within half a second', async () => {
  const { clock, ours, theirs } = await twoStores();
  await add(ours, 20);
  await claim(ours, 5);
  const [urgent] = await add(theirs, 1, { priority: 9 });
  await clock.advance(500);
  expect(idsOf(await claim(ours, 1))).toEqual([urgent!.id]);
});

test('a claim that finds too little above the floor takes what is below it', async () => {
  const { ours, theirs } = await twoStores();
  const low = await add(ours, 4);
  await claim(ours, 2);
  const urgent = await add(theirs, 3, { priority: 9 });
  expect(idsOf(await claim(ours, 10)).sort()).toEqual(idsOf([...low.slice(2), ...urgent]).sort());
});

test('a claim that is repeated after a job came does not raise the floor over it', async () => {
  const { ours } = await twoStores();
  await add(ours, 20);
  const first = await claim(ours, 5, { claimId: 'repeated' });
  const [urgent] = await add(ours, 1, { priority: 9 });
  expect(await claim(ours, 5, { claimId: 'repeated' })).toEqual(first);
  expect(idsOf(await claim(ours, 1))).toEqual([urgent!.id]);
});

test('a claim that began before a job came does not raise the floor over it', () => {
  const clock = new TestClock();
  const floors = new Floors(clock);
  const [early, late] = someJobs(2).map(({ job }) => job);
  const begun = floors.lowered;
  floors.lower(early!);
  floors.raise(late!, begun);
  expect(floors.of('', 'default')).toBeNull();
  floors.raise(late!, floors.lowered);
  expect(floors.of('', 'default')).toBe(late!.rank);
});

test('while an old transaction keeps dead entries in the index, claims do not walk them', {
  timeout: 60_000,
}, async () => {
  const { url, schema, ours } = await twoStores();
  const idle = await tempClient(url);
  await idle.query('begin isolation level repeatable read');
  await idle.query('select 1');
  await add(ours, 3_000);
  const probe = await tempClient(url);
  const entries = async () => {
    const { rows } = await probe.query<{ n: string }>(
      `select coalesce(sum(idx_tup_read), 0) as n from pg_stat_user_indexes where schemaname = $1 and indexrelname = 'jobs_ready'`,
      [schema],
    );
    return Number(rows[0]!.n);
  };
  const before = await entries();
  for (let round = 0; round < 30; round += 1) await complete(ours, await claim(ours, 100));
  await ours.close();
  // Counters are told when a connection ends.
  await expect.poll(entries).toBeGreaterThanOrEqual(before + 3_000);
  expect((await entries()) - before).toBeLessThan(9_000);
  await idle.query('rollback');
});
