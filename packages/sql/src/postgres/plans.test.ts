import type { EventPage, Job, Store } from '@waybill/core';
import { settleChange, someJobs, TestClock } from '@waybill/core/testing';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { QUERY_NAMES, queryFiles, readQuery } from './queries.ts';
import { postgresStore } from './store.ts';
import { appendOf } from './testing/journals.ts';
import { postgresUrl, tempClient, tempSchema } from './testing/server.ts';
import { add, claim, complete } from './testing/work.ts';

const FLUSH = 100;
const FINISHED = 2_000;

interface Counters {
  /** Rows that were found by walking a table. */
  scanned: number;
  /** Entries that were read in indexes. */
  read: number;
  /** Rows of ends that were fetched. */
  ends: number;
  /** Pages of the long lists in bundles that were read. */
  lists: number;
}

/** A store on one connection, so that what it did can be read from the server's own counters. */
async function watchedStore() {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  onTestFinished(() => pool.end());
  const store = await postgresStore({ pool, schema, listen: false, clock: new TestClock() });
  onTestFinished(() => store.close());
  const read = async (): Promise<Counters> => {
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await pool.query<Record<keyof Counters, string>>(
      `select
        coalesce(sum(seq_tup_read) filter (where relname ~ '^job'), 0) as scanned,
        coalesce(sum(idx_tup_fetch) filter (where relname ~ '^job_ends'), 0) as ends,
        (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes where schemaname = $1 and relname ~ '^job') as read,
        (select toast_blks_read + toast_blks_hit from pg_statio_user_tables
          where schemaname = $1 and relname = 'bundles') as lists
      from pg_stat_user_tables where schemaname = $1`,
      [schema],
    );
    const { scanned, ends, read, lists } = rows[0]!;
    return { scanned: Number(scanned), read: Number(read), ends: Number(ends), lists: Number(lists) };
  };
  const counted = async (work: () => Promise<unknown>): Promise<Counters> => {
    const before = await read();
    await work();
    const after = await read();
    return {
      scanned: after.scanned - before.scanned,
      read: after.read - before.read,
      ends: after.ends - before.ends,
      lists: after.lists - before.lists,
    };
  };
  const sql = (text: string) => text.replaceAll('{schema}', `"${schema}"`);
  const run = Object.assign((text: string) => pool.query(sql(text)), { sql });
  /** Entries and rows of the log that the work has read. */
  const logged = async (work: () => Promise<unknown>): Promise<number> => {
    const count = async () => {
      await pool.query('select pg_stat_force_next_flush()');
      const { rows } = await pool.query<{ n: string }>(
        `select seq_tup_read + (select sum(idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid) as n
         from pg_stat_user_tables t where schemaname = $1 and relname = 'event_segments'`,
        [schema],
      );
      return Number(rows[0]!.n);
    };
    const before = await count();
    await work();
    return (await count()) - before;
  };
  return { store, counted, run, logged, analyze: () => pool.query('analyze') };
}

async function finishMany(store: Store): Promise<void> {
  for (let done = 0; done < FINISHED; done += 500) {
    await add(store, 500);
    await complete(store, await claim(store, 500));
  }
}

test('B11: beside an old transaction, a reader of the log reads what is new and nothing else', async () => {
  const { store, run, logged } = await watchedStore();
  const old = await tempClient(await postgresUrl());
  await old.query('begin; select pg_current_xact_id()');
  await run(`insert into {schema}.event_segments (at, count, body) select 1, 0, '[]' from generate_series(1, 5000)`);
  await run('analyze {schema}.event_segments');
  const after = await store.events.end();
  await add(store, 3);
  let page: EventPage | undefined;
  const read = await logged(async () => {
    page = await store.events.read({ after, filter: { tenant: '' }, limit: 10 });
  });
  expect(page?.events).toHaveLength(3);
  expect(read).toBeLessThan(100);
  // What the old one writes is new to whoever saw it running.
  await old.query(run.sql(`insert into {schema}.event_segments (at, count, body) values (1, 0, '[]')`));
  const seen = await store.events.end();
  await old.query('commit');
  expect(await logged(() => store.events.read({ after: seen, filter: { tenant: '' }, limit: 10 }))).toBeLessThan(100);
});

test('B15: a claim of a limited queue counts the runs of that queue, not those of all queues', async () => {
  const { store, counted } = await watchedStore();
  await add(store, 300);
  // So few at a time that each run has its own row.
  for (let claimed = 0; claimed < 300; claimed += 15) await claim(store, 15);
  await store.queues.setLimit('', 'limited', { concurrency: 2, rate: null });
  await add(store, 3, { queue: 'limited' });
  await claim(store, 1, { queues: ['limited'] });
  const { read, scanned } = await counted(() => claim(store, 1, { queues: ['limited'] }));
  expect(scanned).toBe(0);
  expect(read).toBeLessThan(100);
});

/** When the planner was told of the tables: each moment makes it believe something that will not last. */
const MOMENTS: [string, (store: Store, analyze: () => Promise<unknown>) => Promise<void>][] = [
  ['never', async () => {}],
  ['when nothing lived', async (_, analyze) => void (await analyze())],
  [
    'when thousands were ready and none active',
    async (store, analyze) => {
      await add(store, 3_000, { queue: 'crowd' });
      await analyze();
    },
  ],
];

test.each(MOMENTS)(
  'hot paths go by key, whatever the planner believes: told %s',
  { timeout: 60_000 },
  async (_, tell) => {
    const { store, counted, analyze } = await watchedStore();
    await finishMany(store);
    await tell(store, analyze);
    // A worker that ran before has plans from then.
    await complete(store, await claim(store, 0 + (await add(store, 3)).length));
    await add(store, 1_000);

    const paths: [string, () => Promise<unknown>][] = [
      ['insert', () => add(store, FLUSH, { queue: 'other' })],
      ['claim', () => claim(store, FLUSH)],
    ];
    for (const [name, work] of paths) {
      const { scanned, read, ends } = await counted(work);
      expect({ name, scanned, ends }).toEqual({ name, scanned: 0, ends: 0 });
      expect(read, name).toBeLessThan(FLUSH * 10);
    }
    const [first, second] = [await claim(store, FLUSH), await claim(store, FLUSH)];
    const beat = (id: string) => ({ tenant: '', id, by: 'anyone', leaseMs: null, now: store.clock.now() }) as const;
    const failed = { kind: 'failed', error: { code: 'boom', message: '' } } as const;
    const later: [string, () => Promise<unknown>][] = [
      ['extend', () => store.extend(first.map(({ id }) => beat(id)))],
      ['settle', () => complete(store, first)],
      ['retry', () => store.apply(second.map((job) => settleChange(job, failed, store.clock.now())))],
      ['get', () => store.get(second)],
    ];
    for (const [name, work] of later) {
      const { scanned, read, ends } = await counted(work);
      expect({ name, scanned, ends }).toEqual({ name, scanned: 0, ends: 0 });
      expect(read, name).toBeLessThan(FLUSH * 10);
    }
  },
);

test.each(MOMENTS)('a sweep goes by key, whatever it saw before: told %s', { timeout: 60_000 }, async (_, tell) => {
  const { store, counted, analyze } = await watchedStore();
  const sweep = async () => {
    await store.due({ now: store.clock.now(), limit: 100 });
    await store.opensAt?.({ tenant: '', queues: ['default', 'limited'], now: store.clock.now() });
  };
  await store.queues.setLimit('', 'limited', { concurrency: null, rate: { limit: 1, periodMs: 60_000 } });
  await tell(store, analyze);
  // As long as PostgreSQL looks whether the same plan would do for all.
  for (let sweeps = 0; sweeps < 10; sweeps += 1) await sweep();
  await add(store, 5_000, { queue: 'limited' });
  await add(store, 5_000);
  const { scanned } = await counted(sweep);
  expect(scanned).toBe(0);
});

test('the runs of a bundle are found by one look at each bundle, also where their ids are mixed', async () => {
  const { store, counted } = await watchedStore();
  const [JOBS, BUNDLES] = [200, 10];
  const queues = Array.from({ length: BUNDLES }, (_, n) => `queue-${n}`);
  const made = Array.from({ length: JOBS }, () => queues.flatMap((queue) => someJobs(1, { queue }))).flat();
  await store.insert(made.map((job) => ({ jobs: [job] })));
  const runs: Job[][] = [];
  for (const queue of queues) runs.push(await claim(store, JOBS, { queues: [queue] }));
  const beats = runs[0]!.map(({ id }) => ({ tenant: '', id, by: 'anyone', leaseMs: null, now: 0 }) as const);
  for (const [name, work] of [
    ['get', () => store.get(runs[0]!)],
    ['extend', () => store.extend(beats)],
  ] as const) {
    const { lists } = await counted(work);
    // Each bundle has three lists of a few pages.
    expect(lists, name).toBeGreaterThan(0);
    expect(lists, name).toBeLessThan(BUNDLES * 20);
  }
});

test('F1: runs end by one look at their bundle, also once the planner knows how long its lists are', async () => {
  const { store, counted, analyze } = await watchedStore();
  const RUNS = 400;
  await add(store, 3 * RUNS);
  const claims: Job[][] = [];
  for (let n = 0; n < 3; n += 1) claims.push(await claim(store, RUNS));
  await analyze();
  const beats = claims[0]!.map(({ id }) => ({ tenant: '', id, by: 'anyone', leaseMs: null, now: 0 }) as const);
  for (const [name, work] of [
    ['get', () => store.get(claims[0]!)],
    ['extend', () => store.extend(beats)],
  ] as const) {
    expect((await counted(work)).lists, name).toBeLessThan(RUNS);
  }
  for (const name of ['kept', 'forgotten'] as const) {
    await store.queues.setKeep('', 'default', name === 'kept' ? 'all' : 'none');
    const { lists } = await counted(() => complete(store, claims.pop()!));
    // Three lists of a few pages, and once more for each index that is looked at on the way.
    expect(lists, name).toBeGreaterThan(0);
    expect(lists, name).toBeLessThan(RUNS);
  }
});

/** How often each table of journals was looked at, how many of its rows were walked and how many entries of its indexes read. */
const SAID = `
  select t.relname as name, t.seq_scan + coalesce(t.idx_scan, 0) as looks, t.seq_tup_read as scanned,
    (select coalesce(sum(i.idx_tup_read), 0) from pg_stat_user_indexes i where i.relid = t.relid) as read
  from pg_stat_user_tables t where t.schemaname = trim('"' from '{schema}') and t.relname ~ '^journal_[2o]' order by 1`;

/** What the work did to the tables of journals. Only those that it looked at are answered. */
async function saidBy({ run }: Awaited<ReturnType<typeof watchedStore>>, work: () => Promise<unknown>) {
  const read = async () => {
    await run('select pg_stat_force_next_flush()');
    const { rows } = await run(SAID);
    return rows.map(({ name, ...counts }) => ({
      name: String(name),
      looks: Number(counts.looks),
      scanned: Number(counts.scanned),
      read: Number(counts.read),
    }));
  };
  const before = new Map((await read()).map((table) => [table.name, table]));
  await work();
  return (await read()).flatMap(({ name, looks, scanned, read }) => {
    const old = before.get(name)!;
    return looks > old.looks ? [{ name, scanned: scanned - old.scanned, read: read - old.read }] : [];
  });
}

test('a job that has no journal costs no look at journals, whatever becomes of it', async () => {
  const watched = await watchedStore();
  const { store } = watched;
  await store.queues.setKeep('', 'forgets', 'none');
  const liveAndEnd = async (queue: string) => {
    await add(store, 40, { queue });
    await complete(store, await claim(store, 20, { queues: [queue] }));
    const [job, other] = await claim(store, 2, { queues: [queue] });
    await store.extend([{ tenant: '', id: job!.id, by: 'anyone', leaseMs: null, now: store.clock.now() }]);
    const failed = { kind: 'failed', error: { code: 'boom', message: '' } } as const;
    await store.apply([settleChange(job!, failed, store.clock.now())]);
    await complete(store, [other!]);
    await store.get([job!, other!]);
    await store.due({ now: store.clock.now(), limit: 10 });
  };
  for (const queue of ['default', 'forgets']) expect(await saidBy(watched, () => liveAndEnd(queue)), queue).toEqual([]);
});

test.each(MOMENTS)(
  'journals are found by key, in the day of their job: told %s',
  {
    timeout: 60_000,
  },
  async (_, tell) => {
    const watched = await watchedStore();
    const { store, analyze } = watched;
    await tell(store, analyze);
    await add(store, FLUSH);
    const jobs = await claim(store, FLUSH);
    const say = (first: number) => store.journal!.append(jobs.map((job) => appendOf(store, job, [first, first])));
    for (let n = 1; n <= 30; n += 1) await say(n);
    const { id } = jobs[0]!;
    const after = { run: 1, sequence: 28 };
    const only = (most: number) => [{ name: 'journal_20300101', scanned: 0, read: expect.toSatisfy((n) => n <= most) }];
    expect(await saidBy(watched, () => say(31))).toEqual(only(FLUSH * 4));
    const read = () => store.journal!.read({ tenant: '', id, after, limit: 10, maxBytes: 1_000_000 });
    expect(await saidBy(watched, read)).toEqual(only(10));
    const old = { finishedBefore: 0, deadBefore: 0, eventsBefore: 0, journalBefore: store.clock.now(), limit: 10 };
    const pruned = await saidBy(watched, () => store.prune(old));
    expect(pruned.map(({ scanned }) => scanned)).toEqual(pruned.map(() => 0));
  },
);

test('every file in the folder is used and says what its parameters are', () => {
  expect(queryFiles().sort()).toEqual([...QUERY_NAMES].sort());
  for (const name of QUERY_NAMES) {
    const text = readQuery(name);
    expect(text, name).toMatch(/^-- /);
    expect(/\$\d/.test(text), name).toBe(/^-- Parameters/m.test(text));
  }
});
