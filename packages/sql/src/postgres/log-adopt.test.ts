import type { LoggedEvent, Store } from '@waybill/core';
import { expect, test } from 'vitest';
import { readAll } from './queries.ts';
import { postgresStore } from './store.ts';
import { execute, postgresUrl, tempLink, tempSchema, tempStore } from './testing/server.ts';
import { add } from './testing/work.ts';

const LONG = 200_000;

async function bench() {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const open = () => tempStore(postgresStore, { url, schema, listen: false });
  const run = (text: string, values: unknown[] = []) =>
    execute(url, text.replaceAll('{schema}', `"${schema}"`), values);
  /** Fills the log by one transaction; answers its number, as PostgreSQL keeps it with each row. */
  const fill = async (count: number): Promise<string> => {
    const [row] = await run(
      `with filled as (
        insert into {schema}.event_segments (at, count, body)
        select 1, 1, format('[["job.enqueued","01890000-0000-7000-8000-000000000000","test.job","default",0,0,1,%s]]', n)
        from generate_series(1, $1::int) n returning xid
      )
      select (pg_current_xact_id()::text::numeric % 4294967296)::text from filled limit 1`,
      [count],
    );
    await run('analyze {schema}.event_segments');
    return row![0] as string;
  };
  /** What a dump brings along: where it was written. `xids`: numbers of transactions that this server has not given out. */
  const restore = async (xids?: string): Promise<void> => {
    await run(`update {schema}.log_state set database = 'elsewhere'`);
    if (xids) await run(`update {schema}.event_segments set xid = ${xids}`);
  };
  return { url, schema, open, run, fill, restore };
}

/** Reads to the end of the log. */
async function readAllEvents(store: Store, after?: string): Promise<{ events: LoggedEvent[]; cursor: string }> {
  const events: LoggedEvent[] = [];
  for (let cursor = after; ; ) {
    const page = await store.events.read({
      filter: { tenant: '*' },
      ...(cursor !== undefined && { after: cursor }),
      limit: 100,
    });
    events.push(...page.events);
    cursor = page.cursor;
    if (page.atEnd) return { events, cursor };
  }
}

test('B3: a restored database with a long log opens without rewriting a segment', { timeout: 60_000 }, async () => {
  const { open, run, fill, restore } = await bench();
  const before = await open();
  const cursor = await before.events.end();
  const written = await fill(LONG);
  await restore();
  const after = await open();
  const rewritten = await run('select count(*)::int from {schema}.event_segments where xmin::text <> $1', [written]);
  expect(rewritten).toEqual([[0]]);

  const first = await after.events.read({ filter: { tenant: '*' }, after: cursor, limit: 50 });
  expect(first).toMatchObject({ missed: true, atEnd: false });
  expect(first.events.map(({ at }) => at)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
  const second = await after.events.read({ filter: { tenant: '*' }, after: first.cursor, limit: 50 });
  expect(second).toMatchObject({ missed: false });
  expect(second.events[0]!.at).toBe(51);

  const end = await after.events.end();
  const [job] = await add(after, 1);
  expect(await after.events.read({ filter: { tenant: '*' }, after: end, limit: 10 })).toMatchObject({
    events: [{ jobId: job!.id }],
    missed: false,
    atEnd: true,
  });
});

test.each([
  ['that this server has not reached', `'4000000000'`],
  ['below all of this server', `'5'`],
  ['that this server is about to give out', `(pg_current_xact_id()::text::bigint + seq % 7)::text::xid8`],
])('B3: history of a restored log comes once and first, with numbers %s', async (_, xids) => {
  const { open, fill, restore } = await bench();
  await open();
  await fill(300);
  await restore(xids);
  const store = await open();
  const end = await store.events.end();
  const jobs = [...(await add(store, 1)), ...(await add(store, 1)), ...(await add(store, 1))];
  const ids = jobs.map(({ id }) => id);
  const { events, cursor } = await readAllEvents(store);
  expect(events.slice(0, 300).map(({ at }) => at)).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
  expect(events.slice(300).map(({ jobId }) => jobId)).toEqual(ids);
  expect((await readAllEvents(store, end)).events.map(({ jobId }) => jobId)).toEqual(ids);
  const [last] = await add(store, 1);
  expect((await readAllEvents(store, cursor)).events.map(({ jobId }) => jobId)).toEqual([last!.id]);
});

test('B3: a log that is restored a second time is adopted as a whole', async () => {
  const { open, run, fill, restore } = await bench();
  await open();
  await fill(10);
  await restore(`'4000000000'`);
  const first = await open();
  const [job] = await add(first, 1);
  const { cursor } = await readAllEvents(first);
  await restore(`'5000000000'`);
  const second = await open();
  expect(await run('select adopted_seq::int from {schema}.log_state')).toEqual([[11]]);
  const page = await second.events.read({ filter: { tenant: '*' }, after: cursor, limit: 100 });
  expect(page).toMatchObject({ missed: true, atEnd: true });
  expect(page.events).toHaveLength(11);
  expect(page.events.at(-1)!.jobId).toBe(job!.id);
  expect(await second.events.read({ filter: { tenant: '*' }, after: page.cursor, limit: 100 })).toMatchObject({
    events: [],
    missed: false,
  });
});

test('B3: a restored log is pruned from its start, and only readers that had not seen the events hear of it', async () => {
  const { open, fill, restore } = await bench();
  await open();
  await fill(200);
  await restore(`'4000000000'`);
  const store = await open();
  const [job] = await add(store, 1);
  const half = await store.events.read({ filter: { tenant: '*' }, limit: 50 });
  const { cursor } = await readAllEvents(store);
  const prune = (limit: number) => store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 1_000, limit });
  expect(await prune(40)).toMatchObject({ events: 40, more: true });
  expect(await store.events.read({ filter: { tenant: '*' }, after: half.cursor, limit: 1 })).toMatchObject({
    events: [{ at: 51 }],
    missed: false,
  });
  expect(await prune(60)).toMatchObject({ events: 60, more: true });
  expect(await store.events.read({ filter: { tenant: '*' }, after: half.cursor, limit: 1 })).toMatchObject({
    events: [{ at: 101 }],
    missed: true,
  });
  expect(await store.events.read({ filter: { tenant: '*' }, after: cursor, limit: 1 })).toMatchObject({
    events: [],
    missed: false,
  });
  expect(await prune(1_000)).toMatchObject({ events: 100, more: false });
  expect((await readAllEvents(store)).events.map(({ jobId }) => jobId)).toEqual([job!.id]);
});

/** Each of 64 segments may be on a page of its own, and so may the dead row that the test has left of it. */
const MOST_PAGES = 200;

const FORGET = `delete from pg_statistic where starelid = '{schema}.event_segments'::regclass`;

test('B3: reading a long log looks at few pages of it, restored or not', { timeout: 60_000 }, async () => {
  const { schema, open, fill, restore } = await bench();
  const link = await tempLink({ schema, listen: false });
  let store = await open();
  await fill(LONG / 4);
  const sql = readAll((text) => link.sql(text));
  const snapshot = async () => (await link.query<[string]>('select pg_current_snapshot()::text'))[0]![0];
  /** Pages that the server has looked at for one page of events. */
  const pages = async (text: string, cells: unknown[]): Promise<number> => {
    const [plan] = await link.query<[[{ Plan: Record<string, number> }]]>(
      `explain (analyze, buffers, format json) ${text}`,
      cells,
    );
    const { 'Shared Hit Blocks': hit, 'Shared Read Blocks': read } = plan![0][0].Plan;
    return hit! + read!;
  };
  for (const isRestored of [false, true]) {
    if (isRestored) {
      await restore(`((seq * 7919) % 100000 + 3)::text::xid8`);
      store = await open();
    }
    const adopted = isRestored ? LONG / 4 : 0;
    for (const isAnalyzed of [false, true]) {
      // Right after a restore the planner knows nothing.
      const statistics = link.sql(isAnalyzed ? 'analyze {schema}.event_segments' : FORGET);
      await link.query(statistics);
      const start = [0, LONG / 8, LONG / 4 - 10];
      for (const seq of start) {
        const seen = await pages(sql['segments-from-start'], [await snapshot(), seq, 64, null, null, adopted]);
        expect(seen, `from ${seq}: ${isRestored}, ${isAnalyzed}`).toBeLessThan(MOST_PAGES);
      }
      // One that no open transaction of other tests holds back.
      const now = (await snapshot()).split(':')[1]!;
      await add(store, 1);
      const cells = [`${now}:${now}:`, await snapshot(), 0, 64, null, null, adopted, '{}'];
      expect(await pages(sql['segments-after'], cells), `newest: ${isRestored}, ${isAnalyzed}`).toBeLessThan(
        MOST_PAGES,
      );
    }
  }
});
