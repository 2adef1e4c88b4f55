import type { Job, Store } from '@waybill/core';
import { aJob, aWorkflow, jobIdAt, settleChange, TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { postgresStore } from './store.ts';
import { LogBook } from './testing/log-book.ts';
import { daysIn, execute, postgresUrl, tempClient, tempSchema, tempStore } from './testing/server.ts';
import { add, claim, complete } from './testing/work.ts';

const DAY_MS = 86_400_000;

async function aStore() {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const clock = new TestClock();
  const logger = new LogBook();
  const store = await tempStore(postgresStore, { url, schema, clock, logger, listen: false });
  const days = () => daysIn(url, schema);
  return { url, schema, clock, logger, store, days };
}

const prune = (store: Store, finishedBefore: number, deadBefore = finishedBefore) =>
  store.prune({ finishedBefore, deadBefore, eventsBefore: 0, limit: 1_000 });

const DEAD_LETTERS = { args: [], meta: {}, retry: { on_exhaustion: 'dead_letter' as const } };

const finishSome = async (store: Store, count: number) => {
  await add(store, count);
  await complete(store, await claim(store, count));
};

/** A job whose retry policy keeps it when it is given up. */
async function deadLetter(store: Store, key: string): Promise<Job> {
  await add(store, 1, { idempotencyKey: key, queue: 'dead', spec: DEAD_LETTERS });
  const [job] = await claim(store, 1, { queues: ['dead'] });
  const error = { code: 'handler_error', message: 'no', retryable: false };
  await store.apply([settleChange(job!, { kind: 'failed', error }, store.clock.now())]);
  return job!;
}

test('B8: who reads an old day does not wait for its drop, which waits for the reader', async () => {
  const { clock, store, url, schema, days } = await aStore();
  await finishSome(store, 3);
  await clock.advance(DAY_MS);
  const reader = await tempClient(url);
  // As every statement does: first the parent, then what it needs of it.
  await reader.query('begin');
  await reader.query(`lock table only "${schema}".job_ends, only "${schema}".job_bodies in access share mode`);
  let isDropping = true;
  const dropping = prune(store, clock.now()).finally(() => {
    isDropping = false;
  });
  const waits = `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and position($1 in query) > 0`;
  while (isDropping && Number((await execute(url, waits, [schema]))[0]![0]) === 0);
  // Would be ended by the server as one of two that wait for each other, or after the time that is set here.
  await reader.query(`set local lock_timeout = '20ms'`);
  expect((await reader.query(`select count(*)::int as n from "${schema}".job_ends_20300101`)).rows).toEqual([{ n: 3 }]);
  expect(await dropping).toMatchObject({ jobs: 0 });
  await reader.query('commit');
  expect(await prune(store, clock.now())).toMatchObject({ jobs: 3 });
  expect((await days())[0]).toBe('20300102');
});

test('B8: a day that cannot be dropped keeps nothing else from being pruned, and is told of once', async () => {
  const { clock, store, url, schema, days, logger } = await aStore();
  await finishSome(store, 2);
  await clock.advance(DAY_MS);
  await finishSome(store, 3);
  await clock.advance(DAY_MS);
  await execute(url, `create view "${schema}".mine as select * from "${schema}".job_ends_20300101`);
  // What is left of the first day goes one by one.
  for (const jobs of [5, 0]) expect(await prune(store, clock.now())).toMatchObject({ jobs });
  expect(await days()).toEqual(['20300101', '20300103', '20300104']);
  expect(logger.messages('warn')).toEqual([expect.stringContaining('could not be dropped')]);
  expect(logger.lines.find(({ level }) => level === 'warn')?.fields).toMatchObject({ day: '20300101' });
  await execute(url, `drop view "${schema}".mine`);
  await clock.advance(DAY_MS);
  await prune(store, clock.now() - DAY_MS);
  expect(await days()).not.toContain('20300101');
});

test('B12: dead letters and waiting jobs of an old day outlive it, with their keys', async () => {
  const { clock, store, url, schema, days } = await aStore();
  const dead: Job[] = [];
  for (let n = 0; n < 4; n += 1) {
    dead.push(await deadLetter(store, `dead-${n}`));
    await finishSome(store, 2);
    await clock.advance(DAY_MS);
    await store.due({ now: clock.now(), limit: 1 });
  }
  const [waiting] = await add(store, 1, { scheduledAt: clock.now() + 90 * DAY_MS, idempotencyKey: 'waits' });
  await clock.advance(2 * DAY_MS);
  await store.due({ now: clock.now(), limit: 1 });
  expect(await prune(store, clock.now(), 0)).toMatchObject({ jobs: 8 });
  expect(await days()).toEqual(['20300107', '20300108', '20300109', '20300110']);
  const after = await store.get([...dead, waiting!]);
  expect(after.map((job) => job?.state)).toEqual([...dead.map(() => 'discarded'), 'scheduled']);
  expect(after.slice(0, 4).map((job) => job?.dead)).toEqual(dead.map(() => true));
  const keys = await execute(url, `select key from "${schema}".idempotency_keys order by 1`);
  expect(keys.flat()).toEqual(['dead-0', 'dead-1', 'dead-2', 'dead-3', 'waits']);
  const { items } = await store.list({ filter: { tenant: '', dead: true }, limit: 10 });
  expect(items.map(({ id }) => id).sort()).toEqual(dead.map(({ id }) => id).sort());
  // They go by themselves when their time has come.
  await clock.advance(3 * DAY_MS);
  expect(await prune(store, clock.now(), clock.now() - DAY_MS)).toMatchObject({ jobs: 4 });
  expect(await store.get([...dead, waiting!])).toMatchObject([null, null, null, null, { state: 'scheduled' }]);
});

test('A8: a day that is dropped takes no edges into a join that somebody still waits for', async () => {
  const { clock, store, url, schema, days } = await aStore();
  const join = jobIdAt(clock.now(), 9);
  const [parent, child] = [aJob({ createdAt: clock.now() }), aJob({ createdAt: clock.now(), state: 'pending' })];
  const late = { ...parent.job, workflowId: 'flow', node: 'a', scheduledAt: clock.now() + 10 * DAY_MS };
  const jobs = [
    aJob({ ...late, state: 'scheduled', createdAt: clock.now() }),
    aJob({ ...child.job, workflowId: 'flow', node: 'b', state: 'pending', createdAt: clock.now() }),
  ];
  const edges = [
    { parent: jobs[0]!.job.id, child: join, join: 'into_join' as const },
    { parent: join, child: jobs[1]!.job.id, join: 'out_of_join' as const },
  ];
  await store.insert([{ jobs, edges, workflow: { create: aWorkflow({ total: 2, createdAt: clock.now() }) } }]);
  const kinds = () => execute(url, `select kind from "${schema}".edges order by 1`);
  for (let day = 0; day <= 8; day += 1) {
    await clock.advance(DAY_MS);
    await prune(store, clock.now() - 7 * DAY_MS, 0);
  }
  expect(await days()).not.toContain('20300101');
  expect(await kinds()).toEqual([[1], [2]]);
});
