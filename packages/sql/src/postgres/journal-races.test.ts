import type { Job } from '@waybill/core';
import { settleChange } from '@waybill/core/testing';
import { describe, expect, test } from 'vitest';
import { type Bundled, bundledStore, holdUp, untilWaiting } from './testing/bundled.ts';
import { append, appendOf, rangesOf } from './testing/journals.ts';
import { execute, ownPostgres, tempClient } from './testing/server.ts';
import { add, claim } from './testing/work.ts';

const COMPLETED = { kind: 'completed', result: null } as const;
const FAILED = { kind: 'failed', error: { code: 'boom', message: '' } } as const;

/** Two runs of one claim, in a bundle or with rows of their own. */
async function twoRuns(bundleFrom: number): Promise<{ bundled: Bundled; jobs: [Job, Job] }> {
  const bundled = await bundledStore({ bundleFrom });
  await add(bundled.store, 2);
  const [first, second] = await claim(bundled.store, 2);
  return { bundled, jobs: [first!, second!] };
}

describe.each([
  ['in a bundle', 1],
  ['with rows', 100],
])('runs %s', (_, bundleFrom) => {
  // fault: the append is held up between its fence and its commit while the run ends
  test.each([COMPLETED, FAILED])('an append that has begun is stored before its run ends: $kind', async (outcome) => {
    const { bundled, jobs } = await twoRuns(bundleFrom);
    const { store, clock } = bundled;
    const letGo = await holdUp(bundled, 'journal');
    const appended = append(store, jobs[0], [1, 5]);
    await untilWaiting(bundled, 1);
    const ended = store.apply([settleChange(jobs[0], outcome, clock.now())]);
    // Were the end not to wait, a reader could see it, read the journal to its end, and miss the batch.
    await untilWaiting(bundled, 2);
    await letGo();
    expect(await appended).toMatchObject({ status: 'stored' });
    expect(await ended).toMatchObject([{ status: 'applied' }]);
    expect(await rangesOf(store, jobs[0])).toEqual(['1..5']);
  });

  // fault: the run ends while the append waits for its lock
  test('guarantee 3: an append that waits while its run ends is lost', async () => {
    const { bundled, jobs } = await twoRuns(bundleFrom);
    const { store, clock } = bundled;
    const letGo = await holdUp(bundled, 'event_segments');
    const ended = store.apply([settleChange(jobs[0], COMPLETED, clock.now())]);
    await untilWaiting(bundled, 1);
    const appended = store.journal!.append([appendOf(store, jobs[0], [1, 5]), appendOf(store, jobs[1], [1, 2])]);
    await untilWaiting(bundled, 2);
    await letGo();
    expect(await ended).toMatchObject([{ status: 'applied' }]);
    expect((await appended).map(({ status }) => status)).toEqual(['lost', 'stored']);
    expect([await rangesOf(store, jobs[0]), await rangesOf(store, jobs[1])]).toEqual([[], ['1..2']]);
  });

  // fault: the second of two senders begins before the first has committed
  test('guarantee 10: of two senders with overlapping entries the second learns how far the first has come', async () => {
    const { bundled, jobs } = await twoRuns(bundleFrom);
    const { store } = bundled;
    const letGo = await holdUp(bundled, 'journal');
    const first = append(store, jobs[0], [1, 50]);
    await untilWaiting(bundled, 1);
    const second = append(store, jobs[0], [40, 60]);
    await untilWaiting(bundled, 2);
    await letGo();
    expect(await first).toMatchObject({ status: 'stored' });
    expect(await second).toEqual({ status: 'behind', run: 1, head: 50 });
    expect(await rangesOf(store, jobs[0])).toEqual(['1..50']);
  });
});

// fault: the bundle is opened while the append waits for its lock
test('an append that waits while its bundle is opened is stored', async () => {
  const { bundled, jobs } = await twoRuns(1);
  const { store, url, schema, rows } = bundled;
  const opener = await tempClient(url);
  await opener.query('begin');
  await opener.query(`select "${schema}".open_bundles_v1('', array[$1::uuid])`, [jobs[1].id]);
  const appended = append(store, jobs[0], [1, 5]);
  await untilWaiting(bundled, 1);
  await opener.query('commit');
  expect(await appended).toMatchObject({ status: 'stored' });
  expect(await rows('bundles', 'jobs_live')).toEqual([0, 2]);
});

test('an append reads the bundle of its run and leaves it as it is', async () => {
  const { bundled, jobs } = await twoRuns(1);
  const { store, clock, rows } = bundled;
  for (const by of ['anyone', { workerId: 'worker-1' }, { run: 1, claimId: jobs[0].claimId! }] as const) {
    const request = { ...appendOf(store, jobs[0], [1, 5]), by };
    expect((await store.journal!.append([request]))[0]!.status).not.toBe('lost');
  }
  expect(await rows('bundles', 'jobs_live', 'journal')).toEqual([1, 0, 1]);
  await store.apply([settleChange(jobs[0], COMPLETED, clock.now())]);
  expect(await append(store, jobs[0], [6, 7])).toEqual({ status: 'lost' });
  expect(await append(store, jobs[1], [1, 7])).toMatchObject({ status: 'stored' });
});

// fault: settles, heartbeats and appends of one bundle at once
test('appends beside ends and heartbeats of their bundle end without a deadlock', { timeout: 60_000 }, async () => {
  // A server of its own: others count their deadlocks, too.
  const { url } = await ownPostgres();
  const { store, clock } = await bundledStore({ url, poolSize: 8 });
  const JOBS = 12;
  for (let round = 0; round < 15; round += 1) {
    await add(store, JOBS);
    const jobs = await claim(store, JOBS);
    const now = clock.now();
    const ends = jobs.map((job) => settleChange(job, COMPLETED, now));
    const beat = { tenant: '', id: jobs[round % JOBS]!.id, by: 'anyone', leaseMs: null, now } as const;
    const [some, others, applied] = await Promise.all([
      store.journal!.append(jobs.map((job) => appendOf(store, job, [1, 5]))),
      store.journal!.append(jobs.toReversed().map((job) => appendOf(store, job, [3, 9]))),
      store.apply(ends),
      store.extend([beat]),
    ]);
    expect(applied.every(({ status }) => status === 'applied')).toBe(true);
    // Of the two batches of a run one is stored, or none where the run had ended before.
    for (const [index, job] of jobs.entries()) {
      const answers = [some[index]!, others[JOBS - 1 - index]!].filter(({ status }) => status === 'stored');
      expect(await rangesOf(store, job)).toHaveLength(answers.length);
    }
  }
  await store.close();
  // Counters are told when a connection ends.
  const deadlocks = 'select deadlocks from pg_stat_database where datname = current_database()';
  expect(await execute(url, deadlocks)).toEqual([['0']]);
});
