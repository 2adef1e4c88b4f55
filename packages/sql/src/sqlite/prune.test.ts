import { DatabaseSync } from 'node:sqlite';
import type { Store } from '@waybill/core';
import { aJob, settleChange, TestClock } from '@waybill/core/testing';
import { describe, expect, it, test } from 'vitest';
import { openStore, tempFile } from './testing/temp-store.ts';

const DAY_MS = 86_400_000;

const pruneUnused = (store: Store) => {
  const unusedBefore = store.clock.now() - 30 * DAY_MS;
  return store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, unusedBefore, limit: 100 });
};

const beat = (store: Store, id: string) =>
  store.workers.beat({ tenant: '', id, activeJobs: 0, now: store.clock.now() });

async function runIn(store: Store, queue: string): Promise<void> {
  const now = store.clock.now();
  const made = aJob({ queue, createdAt: now });
  await store.insert([{ jobs: [made] }]);
  const lease = { claimId: made.job.id, workerId: 'w', leaseMs: 5_000, now };
  const [claimed] = await store.claimById({ tenant: '', ids: [made.job.id], ...lease });
  if (claimed?.status !== 'claimed') throw new Error('Not claimed.');
  await store.apply([settleChange(claimed.job, { kind: 'completed', result: null }, now)]);
}

function execute(path: string, text: string): void {
  const db = new DatabaseSync(path);
  db.exec(text);
  db.close();
}

const namesOf = async (store: Store) => (await store.queues.list('')).map(({ name }) => name);

// fault: one table of the file refuses to be pruned
test('A22: what cannot be removed is named, and keeps nothing else from being removed', async () => {
  const [path, clock] = [tempFile(), new TestClock()];
  const store = await openStore({ path, clock });
  await beat(store, 'a');
  await runIn(store, 'old');
  execute(path, "create trigger broken before delete on workers begin select raise(abort, 'It broke.'); end");
  await clock.advance(31 * DAY_MS);
  const answer = await pruneUnused(store);
  expect(answer).toMatchObject({ failed: [{ part: 'workers', reason: expect.stringContaining('It broke.') }] });
  expect(await namesOf(store)).toEqual([]);
  expect(await store.workers.list('')).toHaveLength(1);
  execute(path, 'drop trigger broken');
  expect(await pruneUnused(store)).toEqual({ jobs: 0, events: 0, more: false });
  expect(await store.workers.list('')).toEqual([]);
});

// fault: another process has removed the queue that this one knows
test('A22: a queue that another process has removed is listed again with its next job', async () => {
  const [path, clock] = [tempFile(), new TestClock()];
  const [store, other] = [await openStore({ path, clock }), await openStore({ path, clock })];
  await runIn(store, 'old');
  await clock.advance(31 * DAY_MS);
  await pruneUnused(other);
  expect(await namesOf(store)).toEqual([]);
  await store.insert([{ jobs: [aJob({ queue: 'old', createdAt: clock.now() })] }]);
  expect(await namesOf(other)).toEqual(['old']);
});

test('B15: rows from before their use was noted count as used when pruning first sees them', async () => {
  const [path, clock] = [tempFile(), new TestClock()];
  const store = await openStore({ path, clock });
  execute(
    path,
    `insert into limits (tenant, key, is_setting) values ('', 'k', 0);
     insert into queues (tenant, name) values ('', 'old');
     insert into subjects (tenant, kind, subject, count) values ('', 'key', 's', 7)`,
  );
  const left = async () => [await store.limits.get('', 'k'), await namesOf(store)];
  await pruneUnused(store);
  expect(await left()).toEqual([expect.objectContaining({ key: 'k' }), ['old']]);
  await clock.advance(29 * DAY_MS);
  await pruneUnused(store);
  expect(await left()).toEqual([expect.objectContaining({ key: 'k' }), ['old']]);
  await clock.advance(2 * DAY_MS);
  await pruneUnused(store);
  expect(await left()).toEqual([null, []]);
});

describe('segments of the log whose time has not come', () => {
  const segment = (at: number) => `insert into event_segments (at, first, count, body) values (${at}, 0, 1, '[{}]')`;
  const countOf = (path: string, table: string): unknown => {
    const db = new DatabaseSync(path);
    const row = db.prepare(`select count(*) as rows from ${table}`).get()!;
    db.close();
    return row['rows'];
  };

  async function aLog(...ages: number[]) {
    const [path, clock] = [tempFile(), new TestClock()];
    const store = await openStore({ path, clock });
    execute(path, ages.map((age) => segment(clock.now() - age)).join(';'));
    const old = { finishedBefore: 0, deadBefore: 0, eventsBefore: clock.now() - 7 * DAY_MS };
    return { path, clock, store, old };
  }

  // fault: the clock of a server was ahead for as long as it takes to write more segments than one call removes
  it('are as old as the first one behind them that has a time', async () => {
    const { path, store, old } = await aLog(-DAY_MS, -DAY_MS, -DAY_MS, 8 * DAY_MS, -DAY_MS, 0);
    expect(await store.prune({ ...old, limit: 2 })).toEqual({ jobs: 0, events: 2, more: true });
    expect(await store.prune({ ...old, limit: 2 })).toEqual({ jobs: 0, events: 2, more: false });
    expect(countOf(path, 'event_segments')).toBe(2);
  });

  // fault: the table of events refuses to be pruned
  it('do not let counters go before the events that they have counted', async () => {
    const { path, store, old, clock } = await aLog(-DAY_MS, 40 * DAY_MS);
    const [at, unusedBefore] = [clock.now() - 40 * DAY_MS, clock.now() - 30 * DAY_MS];
    execute(path, `insert into subjects (tenant, kind, subject, count, told_at) values ('', 'key', 's', 1, ${at})`);
    execute(path, "create trigger broken before delete on event_segments begin select raise(abort, 'It broke.'); end");
    await store.prune({ ...old, unusedBefore, limit: 100 });
    expect(countOf(path, 'subjects')).toBe(1);
    execute(path, 'drop trigger broken');
    await store.prune({ ...old, unusedBefore, limit: 100 });
    expect(countOf(path, 'subjects')).toBe(0);
  });
});
