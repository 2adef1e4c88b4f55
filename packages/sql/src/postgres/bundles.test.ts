import type { Job, NewJob, Store } from '@waybill/core';
import { settleChange as settling, someJobs, TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { bundledStore } from './testing/bundled.ts';
import { add, claim, complete } from './testing/work.ts';

const COMPLETED = { kind: 'completed', result: 'done' } as const;
const FAILED = { kind: 'failed', error: { code: 'boom', message: 'It broke.' } } as const;

const idsOf = (jobs: readonly Job[]): string[] => jobs.map(({ id }) => id).sort();
const settleChange = (store: Store, job: Job, outcome: typeof COMPLETED | typeof FAILED = COMPLETED) =>
  settling(job, outcome, store.clock.now());
const beat = (job: Job, now: number) => ({
  tenant: job.tenant,
  id: job.id,
  by: { run: job.run, claimId: job.claimId! },
  leaseMs: 60_000,
  now,
});

/** What a store tells of jobs, in every way that it has. */
async function toldOf(store: Store, made: readonly NewJob[]) {
  const active = { filter: { tenant: '', states: ['active'] as const }, limit: 3 };
  const page = await store.list(active);
  return {
    get: await store.get(made.map(({ job }) => job)),
    all: await store.list({ filter: { tenant: '' }, limit: 100 }),
    page,
    next: await store.list({ ...active, ...(page.cursor !== undefined && { cursor: page.cursor }) }),
    typed: await store.list({ filter: { tenant: '', types: ['test.job'], queues: ['default'] }, limit: 100 }),
    counts: [
      await store.count({ tenant: '' }, { atMost: 100 }),
      await store.count({ tenant: '', states: ['active'] }, { atMost: 100 }),
      await store.count({ tenant: '', states: ['active'] }, { atMost: 2 }),
      await store.count({ tenant: 'other', states: ['active'] }, { atMost: 100 }),
    ],
    stats: await store.queues.stats('', 'default', { atMost: 100 }),
    due: (await store.due({ now: store.clock.now(), limit: 10 })).nextAt,
  };
}

test('a run in a bundle is told exactly as one with a row of its own', async () => {
  const clock = new TestClock();
  const bundled = await bundledStore({ clock });
  const single = await bundledStore({ clock, bundleFrom: 1_000_000 });
  const createdAt = clock.now();
  const made = [
    ...someJobs(2, { createdAt, spec: { args: [{ to: 'ada' }], meta: { a: 1 } } }),
    ...someJobs(2, { createdAt, priority: 7, maxAttempts: 9 }),
    ...someJobs(1, { createdAt, idempotencyKey: 'once' }),
    ...someJobs(1, { createdAt, uniqueKey: 'alone' }),
  ];
  const answers = [];
  for (const { store } of [bundled, single]) {
    await store.insert(made.map((job) => ({ jobs: [job] })));
    const started = await claim(store, 6, { claimId: 'same' });
    const told = await toldOf(store, made);
    await complete(store, started.slice(0, 2));
    answers.push({
      started,
      told,
      later: await toldOf(store, made),
      again: await claim(store, 6, { claimId: 'same' }),
    });
  }
  expect(await bundled.rows('bundles', 'jobs_live')).toEqual([1, 0]);
  expect(await single.rows('bundles', 'jobs_live')).toEqual([0, 4]);
  expect(answers[0]!.told.counts).toEqual([6, 6, 2, 0]);
  expect(answers[0]!.again).toHaveLength(4);
  expect(answers[0]).toEqual(answers[1]);
});

test('nothing is left of a bundle when all of its runs have ended', async () => {
  const { store, rows } = await bundledStore();
  await add(store, 20);
  const jobs = await claim(store, 20);
  expect(await rows('jobs_live', 'bundles')).toEqual([0, 1]);
  await complete(store, jobs.slice(0, 5));
  await complete(store, jobs.slice(5, 6));
  expect(await rows('jobs_live', 'bundles', 'bundle_ends', 'job_ends')).toEqual([0, 1, 2, 6]);
  await complete(store, jobs.slice(6));
  expect(await rows('jobs_live', 'bundles', 'bundle_ends', 'job_ends')).toEqual([0, 0, 0, 20]);
});

// fault: the worker falls silent and its lease runs out
test('guarantee 11: of a bundle whose worker fell silent, exactly the runs that have not ended are due', async () => {
  const { store, clock, rows } = await bundledStore();
  await add(store, 1_000);
  const jobs = await claim(store, 1_000);
  await complete(store, jobs.slice(0, 400));
  await clock.advance(29_999);
  const early = await store.due({ now: clock.now(), limit: 1_000 });
  expect([early.jobs, early.nextAt]).toEqual([[], clock.now() + 1]);
  await clock.advance(1);
  const { jobs: due, nextAt } = await store.due({ now: clock.now(), limit: 1_000 });
  expect(idsOf(due)).toEqual(idsOf(jobs.slice(400)));
  expect(due).toEqual(await store.get(due));
  expect(nextAt).toBeNull();
  expect(await rows('bundles', 'bundle_ends')).toEqual([0, 0]);
  await complete(store, jobs.slice(400));
});

test('the sweep gets as many runs as it asks for, those whose lease ended first before others', async () => {
  const { store, clock } = await bundledStore();
  const jobs: Job[] = [];
  for (let n = 0; n < 15; n += 1) {
    await add(store, 2);
    jobs.push(...(await claim(store, 2)));
    await clock.advance(1);
  }
  await clock.advance(30_000);
  const first = await store.due({ now: clock.now(), limit: 25 });
  expect(idsOf(first.jobs).slice(0, 24)).toEqual(idsOf(jobs.slice(0, 24)));
  expect([first.jobs.length, first.nextAt]).toEqual([25, jobs[25]!.leaseUntil]);
  const all = await store.due({ now: clock.now(), limit: 100 });
  expect([idsOf(all.jobs), all.nextAt]).toEqual([idsOf(jobs), null]);
});

test('a heartbeat gives each run its row, and moves the lease that it is for', async () => {
  const { store, clock, rows } = await bundledStore();
  await add(store, 5);
  const [first, ...others] = await claim(store, 5);
  await complete(store, others.splice(0, 1));
  await clock.advance(10_000);
  const leaseUntil = clock.now() + 60_000;
  expect(await store.extend([beat(first!, clock.now())])).toEqual([{ status: 'extended', leaseUntil }]);
  expect(await rows('bundles', 'bundle_ends', 'jobs_live')).toEqual([0, 0, 4]);
  expect(await store.get([first!])).toEqual([{ ...first, leaseUntil, nextAt: leaseUntil }]);
  expect(await store.get(others)).toEqual(others);
  await complete(store, [first!, ...others]);
});

test('a run that fails leaves the others as they are', async () => {
  const { store, rows } = await bundledStore();
  await add(store, 4);
  const [failing, ...others] = await claim(store, 4);
  await complete(store, others.splice(0, 1));
  const change = settleChange(store, failing!, FAILED);
  expect(await store.apply([change])).toMatchObject([{ status: 'applied', repeated: false }]);
  expect(await store.get([failing!])).toEqual([change.job]);
  expect(await store.get(others)).toEqual(others);
  expect(await rows('bundles', 'jobs_live')).toEqual([0, 3]);
  await complete(store, others);
  expect(await store.queues.stats('', 'default', { atMost: 10 })).toMatchObject({
    active: 0,
    retryable: 1,
    completed: 3,
  });
});

// fault: the same call is made again, and a forged token
test('guarantees 3 and 10: a repeated settle is known, one of another claim is lost, and neither changes anything', async () => {
  const { store, rows } = await bundledStore();
  await add(store, 3);
  const [job, other] = await claim(store, 3);
  const change = settleChange(store, job!);
  await store.apply([change]);
  const before = [await store.get([job!, other!]), await rows('event_segments', 'job_ends')];
  expect(await store.apply([change])).toMatchObject([{ status: 'applied', repeated: true }]);
  const stale = settleChange(store, { ...other!, claimId: 'somebody-else' });
  const older = settleChange(store, { ...other!, run: 2 });
  expect(await store.apply([stale])).toEqual([{ status: 'lost' }]);
  expect(await store.apply([older])).toEqual([{ status: 'lost' }]);
  expect([await store.get([job!, other!]), await rows('event_segments', 'job_ends')]).toEqual(before);
  await complete(store, [other!]);
});

test('a forgotten id that comes again is not touched by a late repetition of its first run', async () => {
  const { store } = await bundledStore();
  await store.queues.setKeep('', 'default', 'none');
  const made = someJobs(2, { createdAt: store.clock.now() });
  await store.insert(made.map((job) => ({ jobs: [job] })));
  const [job, neighbour] = await claim(store, 2);
  const change = settleChange(store, job!);
  await store.apply([change]);
  expect(await store.insert([{ jobs: [made[0]!] }])).toMatchObject([{ status: 'inserted' }]);
  expect(await store.apply([change])).toEqual([{ status: 'lost' }]);
  expect(await store.get([job!])).toMatchObject([{ state: 'available', version: 1 }]);
  const [second] = await claim(store, 1);
  expect(await store.apply([change])).toEqual([{ status: 'lost' }]);
  expect(await store.get([job!])).toEqual([second]);
  await complete(store, [second!, neighbour!]);
  expect(await store.get([job!, neighbour!])).toEqual([null, null]);
});

// fault: the limit is set while jobs run
test('guarantee 7: a concurrency limit that is set later counts the runs of bundles', async () => {
  const { store, rows } = await bundledStore();
  await add(store, 10);
  const jobs = await claim(store, 4);
  await complete(store, jobs.slice(0, 1));
  await store.queues.setLimit('', 'default', { concurrency: 5, rate: null });
  const more = await claim(store, 10);
  expect(more).toHaveLength(2);
  expect(await rows('bundles', 'jobs_live')).toEqual([0, 9]);
  await complete(store, [...jobs.slice(1), ...more]);
  expect(await claim(store, 10)).toHaveLength(4);
});

test('what is more than a plain job gets a row, and a claim of both kinds is one claim', async () => {
  const { store, clock, rows } = await bundledStore();
  const now = clock.now();
  const plain = await add(store, 3);
  await add(store, 1, { visibilityMs: 5_000 });
  await add(store, 1, { expiresAt: now + 5_000 });
  await add(store, 1, { limitKey: 'k' });
  await add(store, 1, { workflowId: 'flow', node: 'a' });
  const jobs = await claim(store, 10, { claimId: 'both' });
  expect(jobs).toHaveLength(7);
  expect(await rows('bundles', 'jobs_live')).toEqual([1, 4]);
  expect(await claim(store, 10, { claimId: 'both' })).toEqual(await store.get(jobs));
  expect(idsOf(jobs)).toEqual(expect.arrayContaining(idsOf(plain)));
  await complete(store, jobs);
  expect(await rows('bundles', 'bundle_ends')).toEqual([0, 0]);
});

test('a run whose time is over before its lease opens its bundle then, and is the only one that is due', async () => {
  const { store, clock, rows } = await bundledStore();
  await add(store, 2);
  const [hurried] = await add(store, 1, { timeoutMs: 5_000 });
  const jobs = await claim(store, 10);
  expect(await rows('bundles', 'jobs_live')).toEqual([1, 0]);
  const told = jobs.find(({ id }) => id === hurried!.id)!;
  expect(told).toMatchObject({ timeoutMs: 5_000, timeoutAt: clock.now() + 5_000, nextAt: clock.now() + 5_000 });
  expect(await store.get(jobs)).toEqual(jobs);
  const { nextAt } = await store.due({ now: clock.now(), limit: 10 });
  expect(nextAt).toBe(clock.now() + 5_000);
  await clock.advance(5_000);
  expect((await store.due({ now: clock.now(), limit: 10 })).jobs).toEqual([told]);
  expect(await rows('bundles', 'jobs_live')).toEqual([0, 3]);
  expect(await store.get(jobs)).toEqual(jobs);
});

test('tenants that have the same ids and claim ids have bundles of their own', async () => {
  const { store, rows } = await bundledStore();
  const made = someJobs(2, { createdAt: store.clock.now() });
  const ours: Job[][] = [];
  for (const tenant of ['', 'acme']) {
    const events = (job: NewJob) => job.events.map((event) => ({ ...event, tenant }));
    await store.insert(made.map((one) => ({ jobs: [{ job: { ...one.job, tenant }, events: events(one) }] })));
    ours.push(await claim(store, 2, { tenant, claimId: 'same' }));
  }
  const [first, second] = ours as [Job[], Job[]];
  await complete(store, first);
  expect(await rows('bundles', 'job_ends')).toEqual([1, 2]);
  expect(await store.get([...first, ...second])).toMatchObject([
    ...first.map(() => ({ state: 'completed' })),
    ...second,
  ]);
});

test('a job that was run before, or that was scheduled, gets a row', async () => {
  const { store, clock, rows } = await bundledStore();
  await add(store, 1, { scheduledAt: clock.now() + 10 });
  await add(store, 1);
  const [job] = await claim(store, 1);
  await store.apply([settling(job!, { kind: 'requeued' }, clock.now())]);
  expect(await claim(store, 1)).toMatchObject([{ run: 2 }]);
  expect(await rows('bundles', 'jobs_live')).toEqual([0, 2]);
});
