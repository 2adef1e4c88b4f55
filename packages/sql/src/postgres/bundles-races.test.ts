import { type ApplyAnswer, type Job, type Store, TERMINAL_EVENT_TYPES } from '@waybill/core';
import { settleChange, someJobs, versionChange } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { type Bundled, bundledStore, holdUp, untilWaiting } from './testing/bundled.ts';
import { execute, ownPostgres, tempClient } from './testing/server.ts';
import { add, claim } from './testing/work.ts';

const COMPLETED = { kind: 'completed', result: null } as const;
const DISCARDED = { kind: 'discarded', error: { code: 'boom', message: '' }, deadLetter: true } as const;

const isNew = (answer: ApplyAnswer | undefined): boolean => answer?.status === 'applied' && !answer.repeated;

test('a job that a bundle takes while it is asked for by its id is held, and not unknown', async () => {
  const bundled = await bundledStore();
  const { store, clock } = bundled;
  const [job] = await add(store, 1);
  const letGo = await holdUp(bundled, 'event_segments');
  const claimed = claim(store, 1);
  await untilWaiting(bundled, 1);
  const lease = { claimId: 'by-id', workerId: 'worker-2', leaseMs: 30_000 };
  const asked = store.claimById({ tenant: '', ids: [job!.id], ...lease, now: clock.now() });
  await untilWaiting(bundled, 2);
  await letGo();
  expect(await claimed).toMatchObject([{ id: job!.id }]);
  expect(await asked).toEqual([{ status: 'held' }]);
});

// fault: two ends of one run wait for the same lock
test('guarantee 4: in a queue that forgets, of two ends of one run only one takes effect', async () => {
  const bundled = await bundledStore();
  const { store, clock, rows } = bundled;
  await store.queues.setKeep('', 'default', 'none');
  await add(store, 2);
  const [job] = await claim(store, 2);
  const letGo = await holdUp(bundled, 'event_segments');
  const completed = store.apply([settleChange(job!, COMPLETED, clock.now())]);
  await untilWaiting(bundled, 1);
  const discarded = store.apply([settleChange(job!, DISCARDED, clock.now())]);
  await untilWaiting(bundled, 2);
  await letGo();
  expect([...(await completed), ...(await discarded)].map(isNew)).toEqual([true, false]);
  expect(await rows('job_bodies', 'job_ends', 'event_segments')).toEqual([1, 0, 0]);
});

test('a run that ends while a unique job is about to replace it has ended', async () => {
  const bundled = await bundledStore();
  const { store, clock } = bundled;
  const [first, second] = someJobs(2, { createdAt: clock.now(), uniqueKey: 'u' });
  await store.insert([{ jobs: [{ ...first!, unique: { key: 'u', owner: null } }] }]);
  const [job] = await claim(store, 1);
  const letGo = await holdUp(bundled, 'event_segments');
  const end = settleChange(job!, COMPLETED, clock.now());
  const ended = store.apply([end]);
  await untilWaiting(bundled, 1);
  const replace = versionChange(job!, { do: 'cancel' }, clock.now())!;
  const unique = { key: 'u', owner: { id: job!.id, version: job!.version }, replace };
  const inserted = store.insert([{ jobs: [{ ...second!, unique }] }]);
  await untilWaiting(bundled, 2);
  await letGo();
  expect((await ended).map(isNew)).toEqual([true]);
  expect(await inserted).toEqual([{ status: 'taken', index: 0, job: end.job }]);
});

/** Settles at the same time, each held up between its lock of the bundle and its end until all are there. */
async function settleAtOnce(bundled: Bundled, jobs: readonly Job[]): Promise<ApplyAnswer[]> {
  const { store, clock, url, schema } = bundled;
  const rival = await tempClient(url);
  await rival.query('begin');
  await rival.query(
    `insert into "${schema}".job_ends (tenant, id, place, finished_at, version, run, attempt, state, dead)
      select distinct '', id, 0, 0, 1, 1, 1, 5, false from unnest($1::uuid[]) id`,
    [jobs.map(({ id }) => id)],
  );
  const settled = jobs.map((job) => store.apply([settleChange(job, COMPLETED, clock.now())]));
  await untilWaiting(bundled, jobs.length);
  await rival.query('rollback');
  return (await Promise.all(settled)).flat();
}

test('the last runs of bundles end at the same time without a deadlock, and the sweep removes what is left', async () => {
  const { url } = await ownPostgres();
  const bundled = await bundledStore({ url });
  const { store, clock, rows } = bundled;
  await add(store, 1);
  await add(store, 1, { queue: 'other' });
  const pair = await claim(store, 2, { queues: ['default', 'other'] });
  expect((await settleAtOnce(bundled, pair)).map(isNew)).toEqual([true, true]);

  await add(store, 1);
  const [job] = await claim(store, 1);
  const twice = await settleAtOnce(bundled, [job!, job!]);
  expect(twice.map(({ status }) => status)).toEqual(['applied', 'applied']);
  expect(twice.filter(isNew)).toHaveLength(1);

  await add(store, 2);
  expect((await settleAtOnce(bundled, await claim(store, 2))).map(isNew)).toEqual([true, true]);
  expect(await store.count({ tenant: '', states: ['active'] }, { atMost: 10 })).toBe(0);
  await clock.advance(30_000);
  expect(await store.due({ now: clock.now(), limit: 10 })).toMatchObject({ jobs: [], nextAt: null });
  expect(await rows('bundles', 'bundle_ends', 'jobs_live', 'job_ends')).toEqual([0, 0, 0, 5]);
  await store.close();
  // Counters are told when a connection ends.
  const deadlocks = 'select deadlocks from pg_stat_database where datname = current_database()';
  expect(await execute(url, deadlocks)).toEqual([['0']]);
});

async function countTerminalEvents(store: Store): Promise<number> {
  let count = 0;
  for (let after: string | undefined; ; ) {
    const page = await store.events.read({
      filter: { tenant: '*' },
      limit: 1_000,
      ...(after !== undefined && { after }),
    });
    count += page.events.filter(({ type }) => TERMINAL_EVENT_TYPES.has(type)).length;
    if (page.atEnd) return count;
    after = page.cursor;
  }
}

// fault: settles, heartbeats and cancels of one bundle at once
test('guarantees 3 and 4: runs that end while others open their bundle end exactly once', {
  timeout: 60_000,
}, async () => {
  const { store, clock, rows } = await bundledStore({ poolSize: 8 });
  const ROUNDS = 40;
  const JOBS = 24;
  for (let round = 0; round < ROUNDS; round += 1) {
    await add(store, JOBS);
    const jobs = await claim(store, JOBS);
    const now = clock.now();
    const ends = jobs.map((job) => settleChange(job, COMPLETED, now));
    const beats = jobs.map(({ id, run, claimId }) => ({
      tenant: '',
      id,
      by: { run, claimId: claimId! },
      leaseMs: 1,
      now,
    }));
    const cancel = versionChange(jobs[round % JOBS]!, { do: 'cancel' }, now)!;
    const [, ...answers] = await Promise.all([
      store.extend(beats.slice(round % 7, 9)),
      store.apply(ends.slice(0, 8)),
      store.apply(ends.slice(8)),
      store.apply(ends.slice(4, 12)),
      store.apply([cancel]),
    ]);
    expect(answers.flat().filter(isNew)).toHaveLength(JOBS);
  }
  const { completed, cancelled, active } = (await store.queues.stats('', 'default', { atMost: 10 }))!;
  expect([completed + cancelled, active]).toEqual([ROUNDS * JOBS, 0]);
  expect(await rows('jobs_live', 'job_ends')).toEqual([0, ROUNDS * JOBS]);
  expect(await countTerminalEvents(store)).toBe(ROUNDS * JOBS);
});
