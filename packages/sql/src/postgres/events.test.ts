import type { Job, LoggedEvent, Store } from '@waybill/core';
import { WaybillError } from '@waybill/core';
import { expect, test } from 'vitest';
import { parseCursor } from './log-cursor.ts';
import { readAll } from './queries.ts';
import { postgresStore } from './store.ts';
import { execute, postgresUrl, tempClient, tempLink, tempSchema, tempStore } from './testing/server.ts';
import { add, claim, complete } from './testing/work.ts';

const WRITERS = 8;
const ROUNDS = 12;

/** Reads to the end of the log, and on while others write. */
async function follow(store: Store, after: string, isWriting: () => boolean): Promise<LoggedEvent[]> {
  const seen: LoggedEvent[] = [];
  for (let cursor = after; ; ) {
    const isLast = !isWriting();
    const page = await store.events.read({ filter: { tenant: '*' }, after: cursor, limit: 50 });
    seen.push(...page.events);
    cursor = page.cursor;
    if (page.atEnd && isLast) return seen;
  }
}

// fault: eight writers write while an old transaction stays open
test('guarantee 4: readers miss nothing while many connections write and an old transaction stays open', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const open = () => tempStore(postgresStore, { url, schema, listen: false });
  const stores = [await open(), await open()];
  const idle = await tempClient(url);
  await idle.query('begin');
  await idle.query('select pg_current_xact_id()');

  let writing = true;
  const after = await stores[0]!.events.end();
  const reading = stores.map((store) => follow(store, after, () => writing));
  const write = async (store: Store) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await add(store, 5);
      await complete(store, await claim(store, 5));
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, index) => write(stores[index % 2]!)));
  for (let left = await claim(stores[0]!, 100); left.length > 0; left = await claim(stores[0]!, 100)) {
    await complete(stores[0]!, left);
  }
  writing = false;
  for (const seen of await Promise.all(reading)) {
    expect(seen).toHaveLength(WRITERS * ROUNDS * 5 * 3);
    const byJob = Map.groupBy(seen, ({ jobId }) => jobId);
    for (const events of byJob.values()) expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  }
  await idle.query('rollback');
});

test('an old transaction neither hides an event from whoever wrote it nor from others', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const [one, other] = [
    await tempStore(postgresStore, { url, schema, listen: false }),
    await tempStore(postgresStore, { url, schema, listen: false }),
  ];
  const idle = await tempClient(url);
  await idle.query('begin');
  await idle.query('select pg_current_xact_id()');
  const [job] = await add(one, 1);
  for (const store of [one, other]) {
    const { events, atEnd } = await store.events.read({ filter: { tenant: '*' }, limit: 10 });
    expect(events.map(({ jobId }) => jobId)).toEqual([job!.id]);
    expect(atEnd).toBe(true);
  }
});

test('a cursor of another database begins at the oldest event and says that some were missed', async () => {
  const [one, other] = [
    await tempStore(postgresStore, { listen: false }),
    await tempStore(postgresStore, { listen: false }),
  ];
  await add(other, 2);
  const cursor = await other.events.end();
  const [job] = await add(one, 1);
  expect(await one.events.read({ filter: { tenant: '*' }, after: cursor, limit: 10 })).toMatchObject({
    events: [{ jobId: job!.id }],
    missed: true,
  });
  expect(() => parseCursor('7.2')).toThrow(WaybillError);
});

test('a cursor from before the database was restored says that some were missed, and nothing is lost', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const open = () => tempStore(postgresStore, { url, schema, listen: false });
  const before = await open();
  await add(before, 2);
  const cursor = await before.events.end();
  // What a dump brings along: where it was written, and numbers that this server has yet to reach.
  await execute(url, `update "${schema}".log_state set database = 'elsewhere'`);
  await execute(url, `update "${schema}".event_segments set xid = '4000000000'`);
  const after = await open();
  const [job] = await add(after, 1);
  const page = await after.events.read({ filter: { tenant: '*' }, after: cursor, limit: 10 });
  expect(page).toMatchObject({ missed: true, atEnd: true });
  expect(page.events).toHaveLength(3);
  expect(page.events.at(-1)!.jobId).toBe(job!.id);
  expect(await after.events.read({ filter: { tenant: '*' }, after: page.cursor, limit: 10 })).toMatchObject({
    events: [],
    missed: false,
  });
});

test.each([
  ['named', 3],
  ['counted', 8],
])('where a handful of jobs is asked for, no other segments are sent: %s', async (_, size) => {
  const link = await tempLink({ listen: false });
  const store = await tempStore(postgresStore, { schema: link.schema, listen: false });
  const jobs: Job[] = [];
  for (let segment = 0; segment < 4; segment += 1) jobs.push((await add(store, size))[0]!);
  const asked = [jobs[1]!.id, jobs[3]!.id];
  const { events } = await store.events.read({ filter: { tenant: '*', jobIds: asked }, limit: 10 });
  expect(events.map(({ jobId }) => jobId)).toEqual(asked);
  const statement = readAll((text) => link.sql(text))['segments-from-start'];
  const [now] = await link.query<[string]>('select pg_current_snapshot()::text');
  const cells = [now![0], 0, 9, `{${asked}}`, `{${asked}}`, 0];
  const rows = await link.query<[number, number, string | null, string | null]>(statement, cells);
  expect(rows.map(([, , body]) => body === null)).toEqual([true, false, true, false]);
  expect(rows.map(([, , , ids]) => ids === null)).toEqual([true, size === 3, true, size === 3]);
});
