import type { Store } from '@waybill/core';
import { aJob, settleChange, TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { postgresStore } from './store.ts';
import { execute, postgresUrl, tempClient, tempSchema, tempStore } from './testing/server.ts';

const DAY_MS = 86_400_000;
const RULE = { concurrency: 1, rate: null };

async function open() {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const clock = new TestClock();
  const openOne = () => tempStore(postgresStore, { clock, listen: false, url, schema });
  const run = (text: string) => execute(url, text.replaceAll('{schema}', `"${schema}"`));
  return { store: await openOne(), openOne, clock, url, schema, run };
}

const pruneUnused = (store: Store) => {
  const unusedBefore = store.clock.now() - 30 * DAY_MS;
  return store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, unusedBefore, limit: 100 });
};

const beat = (store: Store, id: string) =>
  store.workers.beat({ tenant: '', id, activeJobs: 0, now: store.clock.now() });

const namesOf = async (store: Store) => (await store.queues.list('')).map(({ name }) => name);

/** Runs a job to its end; the sweep then adds it to the totals of its queue. */
async function runIn(store: Store, clock: TestClock, queue: string, limitKey: string | null = null): Promise<void> {
  const made = { ...aJob({ queue, limitKey, createdAt: clock.now() }), ...(limitKey !== null && { limit: RULE }) };
  await store.insert([{ jobs: [made] }]);
  const lease = { claimId: made.job.id, workerId: 'w', leaseMs: 5_000, now: clock.now() };
  const [claimed] = await store.claimById({ tenant: '', ids: [made.job.id], ...lease });
  if (claimed?.status !== 'claimed') throw new Error('Not claimed.');
  await store.apply([settleChange(claimed.job, { kind: 'completed', result: null }, clock.now())]);
  await clock.advance(60_000);
  await store.due({ now: clock.now(), limit: 10 });
}

// fault: one table of the database refuses to be pruned
test('A22: what cannot be removed is named, and keeps nothing else from being removed', async () => {
  const { store, clock, run } = await open();
  await beat(store, 'a');
  await runIn(store, clock, 'old');
  await run(`create function {schema}.broken() returns trigger language plpgsql as
    $$ begin raise exception 'It broke.'; end $$`);
  await run('create trigger broken before delete on {schema}.workers for each row execute function {schema}.broken()');
  await pruneUnused(store);
  await clock.advance(31 * DAY_MS);
  const answer = await pruneUnused(store);
  expect(answer).toMatchObject({ failed: [{ part: 'workers', reason: expect.stringContaining('It broke.') }] });
  expect(await namesOf(store)).toEqual([]);
  expect(await store.workers.list('')).toHaveLength(1);
  await run('drop trigger broken on {schema}.workers');
  expect(await pruneUnused(store)).toEqual({ jobs: 0, events: 0, more: false });
  expect(await store.workers.list('')).toEqual([]);
});

// fault: another process has removed the queue that this one knows
test('A22: a queue that another process has removed is listed again with its next job', async () => {
  const { store, openOne, clock } = await open();
  const other = await openOne();
  await runIn(store, clock, 'old');
  await pruneUnused(other);
  await clock.advance(31 * DAY_MS);
  await pruneUnused(other);
  expect(await namesOf(store)).toEqual([]);
  await store.insert([{ jobs: [aJob({ queue: 'old', createdAt: clock.now() })] }]);
  expect(await namesOf(other)).toEqual(['old']);
});

// fault: a process of the version before, which does not note where rules come from, sets a limit
test('B15: a limit that an older process has set stays', async () => {
  const { store, clock, run } = await open();
  await run(`insert into {schema}.limits (tenant, key, concurrency) values ('', 'set', 1), ('', 'used', null)`);
  await pruneUnused(store);
  await clock.advance(31 * DAY_MS);
  await pruneUnused(store);
  expect(await store.limits.get('', 'set')).toMatchObject({ rule: RULE });
  expect(await store.limits.get('', 'used')).toBeNull();
});

// fault: pruning and somebody who uses the same rows meet
test('A22: what another transaction has locked is left for the next time, and nobody waits', async () => {
  const { store, clock, url, schema } = await open();
  await beat(store, 'a');
  await runIn(store, clock, 'old', 'k');
  await pruneUnused(store);
  await clock.advance(31 * DAY_MS);
  const client = await tempClient(url);
  await client.query('begin');
  for (const table of ['workers', 'queues', 'limits']) {
    await client.query(`select 1 from "${schema}".${table} for update`);
  }
  expect(await pruneUnused(store)).toEqual({ jobs: 0, events: 0, more: false });
  await client.query('commit');
  expect([await namesOf(store), await store.limits.get('', 'k')]).toMatchObject([['old'], { holders: 0 }]);
  await pruneUnused(store);
  expect([await namesOf(store), await store.limits.get('', 'k')]).toEqual([[], null]);
});
