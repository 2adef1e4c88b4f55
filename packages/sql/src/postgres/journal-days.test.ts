import { type Job, type Store, silentLogger } from '@waybill/core';
import { settleChange, TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { migrate } from './link/migrate.ts';
import { readMigrations } from './link/migration-files.ts';
import { dayAt, daysOf, firstIdAt, TABLES } from './partitions.ts';
import { postgresStore } from './store.ts';
import { append, rangesOf } from './testing/journals.ts';
import { execute, postgresUrl, tempClient, tempLink, tempSchema, tempStore } from './testing/server.ts';
import { add, claim, complete } from './testing/work.ts';

const DAY_MS = 86_400_000;
const DEAD_LETTERS = { args: [], meta: {}, retry: { on_exhaustion: 'dead_letter' as const } };

async function aStore() {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const clock = new TestClock();
  const store = await tempStore(postgresStore, { url, schema, clock, listen: false });
  const tables = async () => {
    const text = `select tableoid::regclass::text, count(*)::int from "${schema}".journal group by 1 order by 1`;
    return (await execute(url, text)).map(([name, count]) => [String(name).replace(`${schema}.`, ''), count]);
  };
  const days = async () => {
    const text = `select relname from pg_class where relnamespace = '"${schema}"'::regnamespace
      and relkind = 'r' and relname ~ '^journal_2' order by 1`;
    return (await execute(url, text)).map(([name]) => String(name).slice('journal_'.length));
  };
  return { url, schema, clock, store, tables, days };
}

/** One that runs and has said something. */
async function talker(store: Store, queue = 'default', spec = {}): Promise<Job> {
  await add(store, 1, { queue, ...spec });
  const [job] = await claim(store, 1, { queues: [queue], leaseMs: 90 * DAY_MS });
  expect(await append(store, job!, [1, 2])).toMatchObject({ status: 'stored' });
  expect(await append(store, job!, [3, 4])).toMatchObject({ status: 'stored' });
  return job!;
}

const NONE = { finishedBefore: 0, deadBefore: 0, eventsBefore: 0, limit: 1_000 };

test('journals are kept in the days of their jobs, which are added ahead of time', async () => {
  const { clock, store, tables, days } = await aStore();
  expect(await days()).toEqual(['20300101', '20300102', '20300103', '20300104']);
  const job = await talker(store);
  await clock.advance(2 * DAY_MS);
  await append(store, job, [5, 6]);
  expect(await tables()).toEqual([['journal_20300101', 3]]);
});

test('a schema that has days of jobs already gets the same days of journals', async () => {
  const url = await postgresUrl();
  const link = await tempLink({ url, migrate: false });
  const all = readMigrations();
  await migrate(
    link,
    silentLogger,
    all.filter(({ number }) => number < 25),
  );
  const day = dayAt(Date.parse('2030-01-01'));
  const bounds = `from ('${firstIdAt(day.from)}') to ('${firstIdAt(day.to)}')`;
  for (const table of TABLES) {
    const text = `create table {schema}.${table}_20300101 partition of {schema}.${table} for values ${bounds}`;
    await link.query(link.sql(text));
  }
  await migrate(link, silentLogger, all);
  expect(await daysOf(link, 'journal')).toEqual([day]);
  const clock = new TestClock();
  const store = await tempStore(postgresStore, { url, schema: link.schema, clock, listen: false });
  await talker(store);
  const [table] = await execute(url, `select distinct tableoid::regclass::text from "${link.schema}".journal`);
  expect(table).toEqual([`${link.schema}.journal_20300101`]);
});

test('a day of journals goes as a whole once all in it is old, and its jobs stay', async () => {
  const { clock, store, days, tables } = await aStore();
  const jobs = [await talker(store), await talker(store)];
  await complete(store, jobs);
  await clock.advance(DAY_MS);
  await complete(store, [await talker(store)]);
  expect(await store.prune({ ...NONE, journalBefore: clock.now() })).toMatchObject({
    jobs: 0,
    journal: 4,
    more: false,
  });
  expect((await days())[0]).toBe('20300102');
  expect(await tables()).toEqual([['journal_20300102', 2]]);
  expect(await store.get(jobs)).toMatchObject([{ state: 'completed' }, { state: 'completed' }]);
  expect(await rangesOf(store, jobs[0]!)).toEqual([]);
});

// fault: the day of a job is older than the retention while its run goes on
test.each([1, 100])('guarantee 10: how far a run has come outlives its day (bundles from %i)', async (bundleFrom) => {
  const url = await postgresUrl();
  const clock = new TestClock();
  const store = await tempStore((options) => postgresStore({ ...options, bundleFrom }), { url, clock, listen: false });
  const [active, ended] = [await talker(store), await talker(store, 'other')];
  await complete(store, [ended]);
  await clock.advance(9 * DAY_MS);
  expect(await store.prune({ ...NONE, journalBefore: clock.now() })).toMatchObject({ journal: 3, more: false });
  expect([await rangesOf(store, active), await rangesOf(store, ended)]).toEqual([['3..4'], []]);
  expect(await append(store, active, [4, 5])).toEqual({ status: 'behind', run: 1, head: 4 });
  expect(await append(store, active, [5, 6])).toEqual({ status: 'stored', run: 1, weight: 30 });
});

test('what is stored late into an old day keeps the day, and what is old in it goes by itself', async () => {
  const { clock, store, days } = await aStore();
  const late = await talker(store);
  const early = await talker(store, 'other');
  await complete(store, [early]);
  await clock.advance(9 * DAY_MS);
  await append(store, late, [5, 6]);
  await complete(store, [late]);
  const journalBefore = clock.now();
  const removed = [];
  for (let more = true; more; ) {
    const answer = await store.prune({ ...NONE, journalBefore, limit: 3 });
    removed.push(answer.journal ?? 0);
    ({ more } = answer);
  }
  expect(removed).toEqual([3, 1]);
  expect(await days()).toContain('20300101');
  expect([await rangesOf(store, late), await rangesOf(store, early)]).toEqual([['5..6'], []]);
});

test('the journals of a dropped day go with it, but for those of jobs that outlive it', async () => {
  const { clock, store, days, tables } = await aStore();
  const [done, dead] = [await talker(store), await talker(store, 'dead', { spec: DEAD_LETTERS })];
  await complete(store, [done]);
  const error = { code: 'handler_error', message: 'no', retryable: false };
  await store.apply([settleChange(dead, { kind: 'failed', error }, clock.now())]);
  await clock.advance(DAY_MS);
  const other = await talker(store);
  expect(await store.prune({ ...NONE, finishedBefore: clock.now() })).toMatchObject({ jobs: 1, more: false });
  expect((await days())[0]).toBe('20300102');
  expect(await tables()).toEqual([
    ['journal_20300102', 2],
    ['journal_other', 2],
  ]);
  expect([await rangesOf(store, done), await rangesOf(store, dead)]).toEqual([[], ['1..2', '3..4']]);
  // When the dead letter goes, so does what it has said.
  await clock.advance(3 * DAY_MS);
  await store.prune({ ...NONE, deadBefore: clock.now() });
  expect(await tables()).toEqual([['journal_20300102', 2]]);
  expect(await rangesOf(store, other)).toHaveLength(2);
});

test('what is said after the day of journals was dropped goes with the day of jobs', async () => {
  const { clock, store, tables, days } = await aStore();
  await add(store, 1, { queue: 'late' });
  await complete(store, [await talker(store)]);
  await clock.advance(DAY_MS);
  await store.prune({ ...NONE, journalBefore: clock.now() });
  expect((await days())[0]).toBe('20300102');
  const [late] = await claim(store, 1, { queues: ['late'] });
  expect(await append(store, late!, [1, 2])).toMatchObject({ status: 'stored' });
  expect(await tables()).toEqual([['journal_other', 1]]);
  await complete(store, [late!]);
  await clock.advance(1);
  expect(await store.prune({ ...NONE, finishedBefore: clock.now() })).toMatchObject({ jobs: 2 });
  expect(await tables()).toEqual([]);
});

test('a day of journals is dropped under a reader only when the reader is gone', async () => {
  const { clock, store, url, schema, days } = await aStore();
  await complete(store, [await talker(store)]);
  await clock.advance(DAY_MS);
  const reader = await tempClient(url);
  await reader.query('begin');
  await reader.query(`select count(*) from "${schema}".journal`);
  const prune = () => store.prune({ ...NONE, journalBefore: clock.now() });
  expect(await prune()).not.toHaveProperty('failed');
  expect(await days()).toContain('20300101');
  await reader.query('commit');
  expect(await prune()).toMatchObject({ journal: 2 });
  expect(await days()).not.toContain('20300101');
});

// fault: the id of a forgotten job is used again
test('a forgotten job takes its journal along, and its id begins a new one', async () => {
  const { clock, store, tables } = await aStore();
  await store.queues.setKeep('', 'default', 'none');
  const job = await talker(store);
  await complete(store, [job]);
  expect(await store.get([job])).toEqual([null]);
  expect(await tables()).toEqual([]);
  await add(store, 1, { id: job.id });
  const [again] = await claim(store, 1);
  expect(again).toMatchObject({ id: job.id, run: 1 });
  await clock.advance(1);
  expect(await append(store, again!, [1, 2])).toEqual({ status: 'stored', run: 1, weight: 10 });
});
