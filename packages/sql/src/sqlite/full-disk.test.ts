import { DatabaseSync } from 'node:sqlite';
import type { Job, NewJob, Store } from '@waybill/core';
import { aJob } from '@waybill/core/testing';
import { describe, expect, it, test } from 'vitest';
import { CallLoop } from './call-loop.ts';
import { groupMessage } from './messages.ts';
import { isInTransaction } from './older-node.ts';
import { openDatabase } from './open.ts';
import type { Answer, Call, ThreadOptions } from './protocol.ts';
import { Session } from './session.ts';
import { smallDisk, whyNoSmallDisk } from './testing/small-disk.ts';
import { add, lock, openStore, tempFile } from './testing/temp-store.ts';

const MIB = 1024 * 1024;
const cannotMount = whyNoSmallDisk();

/** Larger than SQLite's cache, so that it reaches the disk in the middle of the transaction. */
const large = (): NewJob => aJob({ spec: { args: ['x'.repeat(8 * MIB)], meta: {} } });

const refusal = (path: string) => ({
  code: 'resource_exhausted',
  message: `The disk is full; nothing of this call was stored. (${path})`,
  hint: expect.stringContaining('Free disk space'),
});

/** Ids of the jobs in the file, and of the jobs whose event is in the log. */
async function stored(store: Store): Promise<{ jobs: string[]; events: string[] }> {
  const { items } = await store.list({ filter: { tenant: '' }, limit: 100 });
  const { events } = await store.events.read({ filter: { tenant: '*' }, limit: 100 });
  return { jobs: items.map(({ id }) => id).sort(), events: events.map(({ jobId }) => jobId!).sort() };
}

const idsOf = (jobs: readonly Job[]): string[] => jobs.map(({ id }) => id).sort();

describe('A5: a disk that fills up in the middle of a transaction', () => {
  it.skipIf(cannotMount)('refuses the call that has no room, and only that one (needs mount)', async () => {
    const disk = smallDisk();
    const store = await openStore({ path: disk.path });
    const before = await add(store, {});
    disk.leave(2 * MIB);
    // While the file is locked, the calls pile up and then go together.
    const other = lock(disk.path);
    const small = [add(store, {}), add(store, {}, {})];
    const tooLarge = store.insert([{ jobs: [large()] }]);
    small.push(add(store, {}), add(store, { uniqueKey: 'a' }));
    const read = store.count({ tenant: '' }, { atMost: 10 });
    other.release();
    await expect(tooLarge).rejects.toMatchObject({ ...refusal(disk.path), retryable: true });
    const ids = idsOf([...before, ...(await Promise.all(small)).flat()]);
    expect(await read).toBe(6);
    expect(await stored(store)).toEqual({ jobs: ids, events: ids });

    disk.makeRoom();
    expect((await store.insert([{ jobs: [large()] }]))[0]).toMatchObject({ status: 'inserted' });
    expect((await stored(store)).events).toHaveLength(7);
  });

  it.skipIf(cannotMount)('refuses to open a store that has no room for its tables (needs mount)', async () => {
    const disk = smallDisk();
    disk.leave(64 * 1024);
    await expect(openStore({ path: disk.path })).rejects.toMatchObject(refusal(disk.path));
    disk.makeRoom();
    await add(await openStore({ path: disk.path }), {});
  });

  it('stores nothing of the calls that share the transaction, and then repeats each alone', async () => {
    const { path, db, answersTo } = fileWithRoomFor(30);
    const tooLarge = insertion(1, Array.from({ length: 40 }, page));
    const alsoTooLarge = insertion(4, Array.from({ length: 50 }, page));
    const ping = { id: 2, verb: 'ping', input: null } as const;
    const answers = await answersTo([insertion(0, [aJob()]), tooLarge, ping, insertion(3, [aJob()]), alsoTooLarge]);
    expect(answers).toMatchObject([
      { id: 0, output: [{ status: 'inserted' }] },
      { id: 1, failure: refusal(path) },
      { id: 2, output: null },
      { id: 3, output: [{ status: 'inserted' }] },
      { id: 4, failure: refusal(path) },
    ]);
    db.close();
    const store = await openStore({ path });
    const { jobs, events } = await stored(store);
    expect(jobs).toHaveLength(2);
    expect(events).toEqual(jobs);
  });

  it('refuses all of them when none has room', async () => {
    const { path, db, answersTo } = fileWithRoomFor(0);
    const answers = await answersTo([0, 1, 2].map((id) => insertion(id, [page(), page()])));
    expect(answers).toMatchObject([0, 1, 2].map((id) => ({ id, failure: refusal(path) })));
    db.close();
    expect(await stored(await openStore({ path }))).toEqual({ jobs: [], events: [] });
  });
});

/** A job that fills about one page of the file. */
const page = (): NewJob => aJob({ spec: { args: ['x'.repeat(7_000)], meta: {} } });

/** All jobs in one group: it is all or nothing. */
const insertion = (id: number, jobs: NewJob[]): Call => ({
  id,
  verb: 'insert',
  input: { groups: [groupMessage({ jobs })], at: 0, now: 0 },
});

/** SQLite itself refuses to let the file grow by more pages, with the very error that a full disk gives. */
function fileWithRoomFor(pages: number) {
  const path = tempFile();
  const options: ThreadOptions = { path, durability: 'normal', wakeEveryMs: 25, busyTimeoutMs: 1_000 };
  const db = openDatabase(options);
  const used = db.prepare('pragma page_count').get()!['page_count'] as number;
  db.exec(`pragma max_page_count = ${used + pages}`);
  const session = new Session(db);
  const answersTo = async (calls: readonly Call[]): Promise<Answer[]> => {
    const answers: Answer[] = [];
    const loop = new CallLoop(session, options, (message) => {
      if ('answers' in message) answers.push(...message.answers);
    });
    for (const call of calls) loop.add(call);
    await loop.idle();
    return answers;
  };
  return { path, db, answersTo };
}

test('A5: an open transaction is told from none, also where Node does not tell', () => {
  const db = new DatabaseSync(':memory:');
  const older = { exec: (sql: string) => db.exec(sql) };
  for (const told of [db, older]) {
    expect(isInTransaction(told)).toBe(false);
    db.exec('begin');
    expect(isInTransaction(told)).toBe(true);
    db.exec('rollback');
    expect(isInTransaction(told)).toBe(false);
  }
  db.close();
});
