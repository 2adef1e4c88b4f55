import type { LoggedEvent, Store } from '@waybill/core';
import { expect, test } from 'vitest';
import { isLater } from './log-cursor.ts';
import { postgresStore } from './store.ts';
import { execute, postgresUrl, tempClient, tempSchema, tempStore } from './testing/server.ts';
import { add } from './testing/work.ts';

const filter = { tenant: '*' };

async function bench() {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const open = () => tempStore(postgresStore, { url, schema, listen: false });
  return { url, schema, open, store: await open() };
}

/** Reads page by page: up to a place, or to the end. */
async function readOn(store: Store, { limit = 100, ...query }: { after?: string; until?: string; limit?: number }) {
  const events: LoggedEvent[] = [];
  for (let { after } = query; ; ) {
    const page = await store.events.read({ ...query, filter, limit, ...(after !== undefined && { after }) });
    events.push(...page.events);
    if (page.atEnd) return { ids: events.map(({ jobId }) => jobId), cursor: page.cursor };
    expect(page.cursor).not.toBe(after);
    after = page.cursor;
  }
}

test('what was under way at the end of the history comes live, once', async () => {
  const { url, schema, store } = await bench();
  const before = (await add(store, 1))[0]!.id;
  const client = await tempClient(url);
  await client.query('begin');
  const { rows } = await client.query<{ id: string }>(`select "${schema}".enqueue('test.job') as id`);
  const open = rows[0]!.id;
  // Its transaction is younger than the open one, so a bound by number would take the open one for read.
  const seen = (await add(store, 1))[0]!.id;
  const until = await store.events.end();
  const after = (await add(store, 1))[0]!.id;

  const early = await readOn(store, { until, limit: 1 });
  expect(early.ids).toEqual([before, seen]);
  await client.query('commit');
  const late = await readOn(store, { until, limit: 1 });
  expect(late.ids).toEqual([before, seen]);
  for (const cursor of [until, early.cursor, late.cursor]) {
    expect((await readOn(store, { after: cursor })).ids).toEqual([open, after]);
  }
});

test('a reader that has seen a transaction end which the history leaves out is further than the history', async () => {
  const { url, schema, store } = await bench();
  const client = await tempClient(url);
  await client.query('begin');
  await client.query(`select "${schema}".enqueue('test.job')`);
  await add(store, 1);
  const until = await store.events.end();
  await client.query('commit');
  const after = await store.events.end();
  const page = await store.events.read({ filter, after, until, limit: 10 });
  expect(page).toEqual({ events: [], cursor: after, atEnd: false, missed: false });
  expect(await store.events.read({ filter, after: until, until: after, limit: 10 })).toMatchObject({
    events: [{ type: 'job.enqueued' }],
    atEnd: true,
  });
});

test('of two snapshots the one in which more has ended is the later one', () => {
  const inOrder = [
    '3:3:',
    '10:12:10,11',
    '10:12:10',
    '12:12:',
    '10:13:10',
    '999999999:1000000000:',
    '9:1000000001:9,10',
  ];
  for (const [i, one] of inOrder.entries()) {
    for (const [j, other] of inOrder.entries()) expect(isLater(one, other), `${one} ${other}`).toBe(i > j);
  }
});

test('a reader in the middle of a page goes on to a later end, and is behind an earlier one', async () => {
  const { store } = await bench();
  const first = (await add(store, 1))[0]!.id;
  const earlier = await store.events.end();
  const second = (await add(store, 1))[0]!.id;
  const begun = await store.events.read({ filter, limit: 1 });
  expect(begun.events.map(({ jobId }) => jobId)).toEqual([first]);
  const third = (await add(store, 1))[0]!.id;
  const later = await store.events.end();
  await add(store, 1);

  const behind = await store.events.read({ filter, after: begun.cursor, until: earlier, limit: 10 });
  expect(behind).toEqual({ events: [], cursor: begun.cursor, atEnd: false, missed: false });
  for (const limit of [1, 10]) {
    expect((await readOn(store, { after: begun.cursor, until: later, limit })).ids).toEqual([second, third]);
  }
  const inside = store.events.read({ filter, until: begun.cursor, limit: 10 });
  await expect(inside).rejects.toMatchObject({ code: 'invalid_request' });
});

test('nothing lies before an end that means nothing in this database, and a reader from elsewhere missed some', async () => {
  const { url, schema, open, store } = await bench();
  const old = (await add(store, 1))[0]!.id;
  const elsewhere = await store.events.end();
  await execute(url, `update "${schema}".log_state set database = 'elsewhere'`);
  const restored = await open();
  const end = await restored.events.end();
  const late = (await add(restored, 1))[0]!.id;

  const empty = await restored.events.read({ filter, until: elsewhere, limit: 10 });
  expect(empty).toMatchObject({ events: [], atEnd: true });
  expect((await readOn(restored, { after: empty.cursor })).ids).toEqual([old, late]);
  expect(await restored.events.read({ filter, until: empty.cursor, limit: 10 })).toEqual(empty);
  const further = await restored.events.read({ filter, after: end, until: elsewhere, limit: 10 });
  expect(further).toEqual({ events: [], cursor: end, atEnd: false, missed: false });

  const lost = await restored.events.read({ filter, after: elsewhere, until: end, limit: 10 });
  expect(lost).toMatchObject({ events: [{ jobId: old }], atEnd: true, missed: true });
  expect((await readOn(restored, { after: lost.cursor })).ids).toEqual([late]);
});

test('what only looks like a place is refused', async () => {
  const { store } = await bench();
  const [id] = (await store.events.end()).split('.');
  const snapshots = ['5_3_', '0_3_', '5_9_4', '5_9_9', '5_9_7-6', '5_9_-', `5_${'9'.repeat(30)}_`];
  for (const place of ['', 'x', id!, ...snapshots.map((snapshot) => `${id}.${snapshot}`)]) {
    for (const query of [{ after: place }, { until: place }]) {
      const reading = store.events.read({ filter, limit: 1, ...query });
      await expect(reading, place).rejects.toMatchObject({ code: 'invalid_request' });
    }
  }
});
