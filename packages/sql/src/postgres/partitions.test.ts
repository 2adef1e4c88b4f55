import { type Job, type Store, silentLogger } from '@waybill/core';
import { jobIdAt, TEST_EPOCH, TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { openLink } from './link/open-link.ts';
import { addDays, daysOf } from './partitions.ts';
import { postgresStore } from './store.ts';
import { LogBook } from './testing/log-book.ts';
import { daysIn, execute, postgresUrl, tempClient, tempSchema, tempStore } from './testing/server.ts';
import { add, claim, complete } from './testing/work.ts';

const DAY_MS = 86_400_000;

async function aStore() {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const clock = new TestClock();
  const store = await tempStore(postgresStore, { url, schema, clock, listen: false });
  const tablesOf = async (table: string, job: Job) => {
    const rows = await execute(url, `select tableoid::regclass::text from "${schema}".${table} where id = $1`, [
      job.id,
    ]);
    return rows.map(([name]) => String(name).replace(`${schema}.`, ''));
  };
  const days = () => daysIn(url, schema);
  return { url, schema, clock, store, tablesOf, days };
}

const prune = (store: Store, finishedBefore: number, deadBefore = finishedBefore) =>
  store.prune({ finishedBefore, deadBefore, eventsBefore: 0, limit: 1_000 });

test('days have their partitions ahead of time, and the sweep goes on adding them', async () => {
  const { clock, store, days } = await aStore();
  expect(await days()).toEqual(['20300101', '20300102', '20300103', '20300104']);
  await clock.advance(2 * DAY_MS);
  await store.due({ now: clock.now(), limit: 1 });
  expect((await days()).at(-1)).toBe('20300106');
});

test('A1: upkeep that fails keeps no due job from being looked at', async () => {
  const { url, schema, clock, store } = await aStore();
  const [job] = await add(store, 1, { scheduledAt: clock.now() + 1_000 });
  await execute(url, `alter table "${schema}".queue_totals rename to moved_away`);
  await clock.advance(10_000);
  expect((await store.due({ now: clock.now(), limit: 9 })).jobs).toMatchObject([{ id: job!.id }]);
});

test('a job is kept with those of its day; an id from elsewhere finds a place too', async () => {
  const { store, tablesOf } = await aStore();
  const [job] = await add(store, 1);
  expect(await tablesOf('job_bodies', job!)).toEqual(['job_bodies_20300101']);
  const [odd] = await add(store, 1, { id: jobIdAt(TEST_EPOCH - 900 * DAY_MS, 1) });
  expect(await tablesOf('job_bodies', odd!)).toEqual(['job_bodies_other']);
  await complete(store, await claim(store, 2));
  expect(await tablesOf('job_ends', odd!)).toEqual(['job_ends_other']);
  expect(await store.get([job!, odd!])).toMatchObject([{ state: 'completed' }, { state: 'completed' }]);
});

test('a day goes as a whole once all of its jobs have expired, with their keys', async () => {
  const { clock, store, days } = await aStore();
  await add(store, 50);
  const [keyed] = await add(store, 1, { idempotencyKey: 'k' });
  await complete(store, await claim(store, 100));
  await clock.advance(DAY_MS);
  const ended = clock.now();
  expect(await prune(store, ended)).toMatchObject({ jobs: 51, more: false });
  expect((await days())[0]).toBe('20300102');
  expect(await store.get([keyed!])).toEqual([null]);
  expect(await add(store, 1, { idempotencyKey: 'k' })).toHaveLength(1);
});

// fault: the day is older than the retention while a run of it goes on
test('guarantee 1: a day stays while runs of its jobs are in a bundle', async () => {
  const { clock, store, days } = await aStore();
  await add(store, 20);
  const jobs = await claim(store, 20, { leaseMs: 5 * DAY_MS });
  await complete(store, jobs.slice(1));
  await clock.advance(3 * DAY_MS);
  expect(await prune(store, clock.now())).toMatchObject({ jobs: 19 });
  expect((await days())[0]).toBe('20300101');
  expect(await store.get(jobs.slice(0, 2))).toEqual([jobs[0], null]);
  await complete(store, jobs.slice(0, 1));
});

// fault: the day is older than the retention while a job of it waits
test('guarantee 1: a day stays while a job of it lives or ended inside the retention', async () => {
  const { clock, store, days } = await aStore();
  const [waiting] = await add(store, 1, { scheduledAt: clock.now() + 40 * DAY_MS });
  const [slow] = await add(store, 1, { queue: 'slow' });
  await add(store, 10);
  await complete(store, await claim(store, 10));
  await clock.advance(30 * DAY_MS);
  await complete(store, await claim(store, 1, { queues: ['slow'] }));
  await clock.advance(DAY_MS);
  // Those that ended on the first day go by themselves; the two others do not.
  expect(await prune(store, clock.now() - 2 * DAY_MS)).toMatchObject({ jobs: 10, more: false });
  expect(await days()).toContain('20300101');
  expect(await store.get([waiting!, slow!])).toMatchObject([{ state: 'scheduled' }, { state: 'completed' }]);
});

test('days are dropped under a reader’s feet only when it is gone', async () => {
  const { clock, store, url, schema, days } = await aStore();
  await add(store, 3);
  await complete(store, await claim(store, 3));
  await clock.advance(DAY_MS);
  const reader = await tempClient(url);
  await reader.query('begin');
  await reader.query(`select count(*) from "${schema}".job_ends`);
  expect(await prune(store, clock.now())).toMatchObject({ jobs: 0 });
  expect(await days()).toContain('20300101');
  await reader.query('commit');
  expect(await prune(store, clock.now())).toMatchObject({ jobs: 3 });
});

test('a day that cannot be added now does not keep jobs from being inserted', async () => {
  const { clock, store, url, schema, tablesOf } = await aStore();
  const link = await openLink({ url, schema, clock, listen: false, migrate: false });
  const reader = await tempClient(url);
  await reader.query('begin');
  await reader.query(`select count(*) from "${schema}".job_bodies`);
  const later = clock.now() + 30 * DAY_MS;
  await addDays(link, later, silentLogger);
  const [job] = await add(store, 1, { id: jobIdAt(later, 1) });
  expect(await store.get([job!])).toMatchObject([{ state: 'available' }]);
  await reader.query('commit');
  await addDays(link, later, silentLogger);
  // The job moves out of the partition that took it in.
  expect((await daysOf(link)).map(({ name }) => name)).toContain('20300131');
  expect(await tablesOf('job_bodies', job!)).toEqual(['job_bodies_20300131']);
  await link.close();
});

test('B7: a job whose id is of a day to come keeps no day from being added, and moves into its own', async () => {
  const { clock, store, days, tablesOf } = await aStore();
  const comes = clock.now() + 6 * DAY_MS;
  const [ahead] = await add(store, 1, { id: jobIdAt(comes, 1) });
  const [finished] = await add(store, 1, { id: jobIdAt(comes, 2), queue: 'done' });
  await complete(store, await claim(store, 1, { queues: ['done'] }));
  for (let day = 1; day <= 9; day += 1) {
    await clock.advance(DAY_MS);
    await store.due({ now: clock.now(), limit: 1 });
  }
  expect(await days()).toEqual(Array.from({ length: 13 }, (_, n) => `203001${String(n + 1).padStart(2, '0')}`));
  expect(await tablesOf('job_bodies', ahead!)).toEqual(['job_bodies_20300107']);
  expect(await tablesOf('job_ends', finished!)).toEqual(['job_ends_20300107']);
  expect(await store.get([ahead!, finished!])).toMatchObject([{ state: 'available' }, { state: 'completed' }]);
});

test('B7: a day that cannot be added is told of, and the days after it are added', async () => {
  const { clock, url, schema } = await aStore();
  const logger = new LogBook();
  const link = await openLink({ url, schema, clock, listen: false, migrate: false });
  const later = clock.now() + 30 * DAY_MS;
  // A type that has the name of the partition to be.
  await execute(url, `create domain "${schema}".job_ends_20300131 as text`);
  await addDays(link, later, logger);
  const added = (await daysOf(link)).map(({ name }) => name);
  expect(added.slice(-3)).toEqual(['20300201', '20300202', '20300203']);
  expect(logger.messages('warn')).toEqual([expect.stringContaining('A day was not added')]);
  await link.close();
});
