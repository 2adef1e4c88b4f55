import { readdir, readFile, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { JobRequest } from '../enqueue/envelope.ts';
import { newJobId } from '../job/id.ts';
import type { Job } from '../job/job.ts';
import type { EngineOptions } from '../options.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import type { Fault } from '../testing/faulty-store.ts';
import { temporaryBlobs } from '../testing/offloaded.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';

const LARGE = 'a text that is larger than what a row is allowed here, '.repeat(5);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** An engine whose large payloads are in a folder, and what can be seen of its rows and blobs from outside. */
async function largeEngine({ faults = [], ...options }: Partial<EngineOptions> & { faults?: Fault[] } = {}) {
  const { blobs, folder, remove } = await temporaryBlobs();
  onTestFinished(remove);
  const clock = new TestClock();
  const on = memoryStore({ clock });
  const fetched: string[] = [];
  let failure: Error | undefined;
  const watched: typeof blobs = {
    ...blobs,
    get: async (key) => {
      fetched.push(key);
      if (failure) throw failure;
      return blobs.get(key);
    },
    presign: async (key, forMs) => `https://blobs.example/${key}?for=${forMs}`,
  };
  const test = testEngine({
    blobs: { store: watched, threshold: 256 },
    maintenance: false,
    on,
    clock,
    faults,
    ...options,
  });
  return {
    ...test,
    fetched,
    fail: (error: Error | undefined) => {
      failure = error;
    },
    /** The row as it is stored. */
    row: async (id: string): Promise<Job> => (await on.get([{ tenant: '', id }]))[0]!,
    /** Names of the blobs of a job. */
    blobsOf: async (id: string): Promise<string[]> =>
      (await readdir(join(folder, 'jobs', id)).catch(() => [])).map((name) => name.replace(/-.*/, '')).sort(),
    path: (id: string) => join(folder, 'jobs', id),
    put: (request: Partial<JobRequest> = {}) =>
      test.waybill.jobs.enqueue({ type: 'test.job', args: [LARGE], ...request }).then(({ job }) => job),
    complete: async (result: string | object = { LARGE }) => {
      const { job, token } = await test.claimOne();
      const outcome = { kind: 'completed', result: result as never } as const;
      return test.waybill.jobs.settle({ id: job.id, leaseToken: token, outcome });
    },
  };
}

test('payloads are in the folder of their job, the row has references, and all readers see them whole', async () => {
  const { waybill, put, claimOne, row, blobsOf, complete } = await largeEngine();
  const { id } = await put({ meta: { LARGE }, options: { unknown: LARGE }, extra: LARGE } as Partial<JobRequest>);
  expect(JSON.stringify(await row(id))).not.toContain(LARGE);
  expect(await blobsOf(id)).toEqual(['args', 'extra', 'meta', 'options']);

  const { job, token } = await claimOne();
  const spec = { args: [LARGE], meta: { LARGE }, options: { unknown: LARGE }, extra: { extra: LARGE } };
  expect(job.spec).toEqual(spec);
  const report = { id, leaseToken: token, checkpoint: { LARGE } };
  expect(await waybill.jobs.report(report)).toMatchObject({ checkpoint: { LARGE } });
  const error = { code: 'boom', message: LARGE, details: { LARGE } };
  await waybill.jobs.settle({ id, leaseToken: token, outcome: { kind: 'failed', error } });
  expect(JSON.stringify(await row(id))).not.toContain(LARGE);

  await waybill.jobs.cancel(await put().then((other) => other.id));
  await waybill.jobs.cancel(id, { reason: LARGE });
  await waybill.jobs.enqueue({ type: 'test.job', args: [] });
  await complete();
  const { items } = await waybill.jobs.list({ limit: 10 });
  expect(items.find((one) => one.id === id)).toMatchObject({ spec, errors: [error] });
  expect(items.filter(({ result }) => result !== null)).toMatchObject([{ result: { LARGE } }]);
  expect(await waybill.jobs.get(id)).toMatchObject({ spec, errors: [error] });
  expect(await waybill.jobs.progress(id)).toMatchObject({ checkpoint: { LARGE } });
  const { events } = await waybill.events.read({ limit: 100, filter: { jobIds: [id] } });
  expect(events.map(({ type, data }) => [type, JSON.stringify(data).includes(LARGE)])).toEqual([
    ['job.enqueued', false],
    ['job.started', false],
    ['job.progress', false],
    ['job.failed', true],
    ['job.retrying', true],
    ['job.cancelled', true],
  ]);
  expect(await blobsOf(id)).toEqual([
    'args',
    'checkpoint',
    'details',
    'event',
    'event',
    'event',
    'extra',
    'message',
    'meta',
    'options',
  ]);
});

test('what is small stays in its row', async () => {
  const { waybill, put, row, blobsOf, complete } = await largeEngine();
  const { id } = await put({ args: ['small'] });
  await complete({ ok: true });
  expect(await row(id)).toEqual(await waybill.jobs.get(id));
  expect(await blobsOf(id)).toEqual([]);
});

test('a large result reaches the next node of a workflow', async () => {
  const { waybill, complete, claimOne, clock } = await largeEngine();
  const step = (name: string) => ({ type: `test.${name}`, name, args: [] });
  await waybill.workflows.create({ type: 'chain', name: 'two', steps: [step('a'), step('b')] });
  await complete();
  await clock.advance(1);
  const { parentResults } = await claimOne();
  expect(parentResults).toEqual([{ LARGE }]);
});

test('payloads of tenants are apart, also under one id', async () => {
  const { waybill, path } = await largeEngine();
  const id = newJobId(Date.now());
  for (const tenant of ['', 'acme', 'a/../b']) {
    await waybill.jobs.enqueue({ type: 'test.job', id, args: [LARGE + tenant] }, { tenant });
    expect((await waybill.jobs.get(id, { tenant })).spec.args).toEqual([LARGE + tenant]);
  }
  expect((await readdir(join(path(id), '..'))).length).toBe(3);
});

test("a producer's own args that look like a reference are not taken for one", async () => {
  const { put, row, waybill, claimOne } = await largeEngine();
  const secret = await put();
  const reference = (await row(secret.id)).spec.args[0]!;
  const forged = { args: [reference], meta: reference as never };
  const { id } = await put(forged);
  await waybill.jobs.cancel(secret.id);
  expect((await waybill.jobs.get(id)).spec).toEqual(forged);
  expect((await claimOne()).job.spec).toEqual(forged);
  await waybill.jobs.cancel(id);
  expect((await waybill.jobs.get(id)).spec).toEqual(forged);
});

test('after a crash between the blob and its row there is no job, and the same write again makes it whole', async () => {
  const faults: Fault[] = [1, 2, 3].map((call) => ({ method: 'insert', call, when: 'before' }));
  const { waybill, put, blobsOf, store, clock } = await largeEngine({ faults });
  const id = newJobId(clock.now());
  // The faulty store stands below the blobs, where a connection would break.
  await expect(put({ id })).rejects.toThrow();
  expect(store.calls('insert')).toBe(3);
  expect(await blobsOf(id)).toEqual(['args']);
  await expect(waybill.jobs.get(id)).rejects.toMatchObject({ code: 'not_found' });
  // The same write again is harmless, and finds its blob in place.
  await put({ id });
  expect(await blobsOf(id)).toEqual(['args']);
  expect((await waybill.jobs.get(id)).spec.args).toEqual([LARGE]);
});

test('a settle that comes too late writes over nothing that the row refers to', async () => {
  const { waybill, put, claimOne, clock } = await largeEngine({ maintenance: true });
  const { id } = await put();
  const late = await claimOne({ leaseMs: 1_000 });
  await clock.advance(2_000);
  const { token } = await claimOne();
  const settle = (leaseToken: string, result: string) =>
    waybill.jobs.settle({ id, leaseToken, outcome: { kind: 'completed', result } });
  await settle(token, `${LARGE} of the new run`);
  await expect(settle(late.token, `${LARGE} of the old run`)).rejects.toMatchObject({ code: 'lease_lost' });
  expect((await waybill.jobs.get(id)).result).toBe(`${LARGE} of the new run`);
});

test('blobs go with their job when it is pruned, orphans go too, and those of living jobs stay', async () => {
  const { waybill, put, blobsOf, complete, claimOne, clock, path } = await largeEngine({
    faults: [4, 5, 6].map((call) => ({ method: 'insert', call, when: 'before' })),
    ...{ maintenance: true, sweepEveryMs: DAY_MS, retention: { everyMs: HOUR_MS / 2 } },
  });
  const done = await put();
  await complete();
  const dead = await put();
  const { token } = await claimOne();
  const error = { code: 'boom', message: 'It broke.' };
  await waybill.jobs.settle({
    id: dead.id,
    leaseToken: token,
    outcome: { kind: 'discarded', error, deadLetter: true },
  });
  const alive = await put({ options: { scheduled_at: '+P30D' } });
  const orphan = newJobId(clock.now());
  await expect(put({ id: orphan })).rejects.toThrow();
  for (const id of [done.id, dead.id, alive.id, orphan]) await aged(path(id), clock.now());

  await pass(clock, 6 * DAY_MS);
  expect(await blobsOf(done.id)).toEqual(['args', 'result']);
  expect(await blobsOf(orphan)).toEqual(['args']);
  await pass(clock, 2 * DAY_MS);
  await expect(waybill.jobs.get(done.id)).rejects.toMatchObject({ code: 'not_found' });
  expect(await blobsOf(done.id)).toEqual([]);
  expect(await blobsOf(orphan)).toEqual([]);
  expect(await blobsOf(dead.id)).toEqual(['args']);
  expect(await blobsOf(alive.id)).toEqual(['args']);
  expect((await waybill.jobs.get(alive.id)).spec.args).toEqual([LARGE]);
});

test('blobs of a job that is not there are left alone while they are young: its row may be on its way', async () => {
  const { put, blobsOf, clock, path, waybill, row } = await largeEngine({
    maintenance: true,
    retention: { finishedMs: 1_000, eventsMs: 1_000, everyMs: HOUR_MS / 2 },
  });
  const { id } = await put();
  await aged(path(id), clock.now());
  await waybill.jobs.cancel(id);
  await pass(clock, 0);
  expect(await row(id)).toBeNull();
  expect(await blobsOf(id)).toEqual(['args']);
  await pass(clock, HOUR_MS);
  expect(await blobsOf(id)).toEqual([]);
});

test('a payload that is gone: get says so, a page goes on, other jobs are claimed, and this one is a dead letter', async () => {
  const { waybill, put, path } = await largeEngine();
  const [broken, whole] = [await put(), await put()];
  await rm(path(broken.id), { recursive: true });
  await expect(waybill.jobs.get(broken.id)).rejects.toMatchObject({
    code: 'payload_missing',
    retryable: false,
    details: { job_id: broken.id, key: expect.stringMatching(`^jobs/${broken.id}/args-`) },
  });
  const { items } = await waybill.jobs.list({ limit: 10 });
  expect(items.map(({ id }) => id).sort()).toEqual([broken.id, whole.id].sort());

  const leases = await waybill.jobs.claim({ queues: ['default'], count: 2 });
  expect(leases.map(({ job }) => job.id)).toEqual([whole.id]);
  const dead = await waybill.deadLetters.get(broken.id);
  expect(dead.errors).toMatchObject([{ code: 'payload_missing', message: expect.stringContaining('jobs/') }]);
  expect(await waybill.jobs.claim({ queues: ['default'], count: 2 })).toEqual([]);
});

test('a job whose payload is gone can still be cancelled', async () => {
  const { waybill, put, path, row } = await largeEngine();
  const { id } = await put();
  const before = await row(id);
  await rm(path(id), { recursive: true });
  expect(await waybill.jobs.cancel(id)).toMatchObject({ state: 'cancelled' });
  expect((await row(id)).spec).toEqual(before.spec);
});

test('while the blob store is away a job is put off, which costs it no attempt, and others are worked on', async () => {
  const { waybill, put, fail, clock, claimOne } = await largeEngine({ maintenance: true });
  const large = await put();
  const small = await put({ args: [] });
  fail(new Error('https://bucket.example/?X-Amz-Signature=secret'));
  const leases = await waybill.jobs.claim({ queues: ['default'], count: 2 });
  expect(leases.map(({ job }) => job.id)).toEqual([small.id]);
  const refused = await waybill.jobs.get(large.id).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'unavailable', retryable: true });
  expect(JSON.stringify([refused, String(refused)])).not.toContain('secret');
  fail(undefined);
  await clock.advance(11_000);
  const { job } = await claimOne();
  expect(job).toMatchObject({ id: large.id, attempt: 1, spec: { args: [LARGE] } });
});

test('a checkpoint that is gone is none', async () => {
  const { waybill, put, path, claimOne } = await largeEngine();
  const { id } = await put({ args: [] });
  const { token } = await claimOne();
  await waybill.jobs.report({ id, leaseToken: token, checkpoint: { LARGE } });
  await waybill.jobs.settle({ id, leaseToken: token, outcome: { kind: 'requeued' } });
  await rm(path(id), { recursive: true });
  const again = await claimOne();
  expect(again.job.id).toBe(id);
  expect(again.checkpoint).toBeUndefined();
});

test('an object that was changed and is sent again is kept as it is now', async () => {
  const { waybill, put, claimOne, row, clock } = await largeEngine({ maintenance: true });
  const { id } = await put({ meta: { LARGE }, options: { retry: { initial_interval: 'PT1S' } } });
  const state = { LARGE, round: 1 };
  const { job, token } = await claimOne();
  await waybill.jobs.report({ id, leaseToken: token, checkpoint: state });
  state.round = 2;
  await waybill.jobs.report({ id, leaseToken: token, checkpoint: state });
  const fail = (leaseToken: string) =>
    waybill.jobs.settle({
      id,
      leaseToken,
      outcome: { kind: 'failed', error: { code: 'boom', message: '', details: state } },
    });
  await fail(token);
  await clock.advance(10_000);
  const second = await claimOne();
  expect(second.checkpoint).toEqual({ LARGE, round: 2 });
  state.round = 3;
  await fail(second.token);
  await clock.advance(10_000);

  const third = await claimOne();
  expect(third.job.errors.map(({ details }) => details)).toEqual([
    { LARGE, round: 2 },
    { LARGE, round: 3 },
  ]);
  const { spec } = await row(id);
  for (const given of [job, third.job]) given.spec.meta['changed'] = true;
  const outcome = { kind: 'completed', result: third.job.spec.meta } as const;
  await waybill.jobs.settle({ id, leaseToken: third.token, outcome });
  const done = await waybill.jobs.get(id);
  expect(done.result).toEqual({ LARGE, changed: true });
  expect(done.spec.meta).toEqual({ LARGE });
  expect((await row(id)).spec).toEqual(spec);
});

test('the sweep fetches no payloads, whatever is due', async () => {
  const { put, fetched, clock, claimOne, row } = await largeEngine({ maintenance: true });
  const { id } = await put({ options: { scheduled_at: '+PT5S' } });
  const before = await row(id);
  await clock.advance(6_000);
  expect(await row(id)).toMatchObject({ state: 'available', spec: before.spec });
  expect(fetched).toEqual([]);
  expect((await claimOne()).job.spec.args).toEqual([LARGE]);
});

test('who can fetch large payloads by their addresses is told these, and nothing is fetched in vain', async () => {
  const { waybill, put, complete, fetched } = await largeEngine();
  const { id } = await put({ meta: { LARGE } });
  await complete({ LARGE });
  fetched.length = 0;
  const bound = { overBytes: 100 };
  const urls = {
    args: expect.stringMatching(`^https://blobs.example/jobs/${id}/args-[0-9a-f]{32}\\?for=900000$`),
    result: expect.stringContaining(`/jobs/${id}/result-`),
  };
  const job = await waybill.jobs.get(id, bound);
  expect(await waybill.jobs.urls!(job, bound)).toEqual(urls);
  expect(job.spec.meta).toEqual({ LARGE });
  const { items } = await waybill.jobs.list({ limit: 10, ...bound });
  expect(await waybill.jobs.urls!(items[0]!, bound)).toEqual(urls);
  expect(fetched.filter((key) => !key.includes('/meta-'))).toEqual([]);

  const wide = { overBytes: 10_000 };
  const whole = await waybill.jobs.get(id, wide);
  expect(whole).toMatchObject({ spec: { args: [LARGE] }, result: { LARGE } });
  expect(await waybill.jobs.urls!(whole, wide)).toEqual({});
  await expect(waybill.jobs.get(newJobId(Date.now()), bound)).rejects.toMatchObject({ code: 'not_found' });
});

test('a page whose payloads are too large together is short, and goes on behind it', async () => {
  const { waybill, put } = await largeEngine();
  const huge = 'x'.repeat(17 * 1024 * 1024);
  const ids = [(await put({ args: [huge] })).id, (await put({ args: [huge] })).id].sort();
  const seen: string[] = [];
  let pages = 0;
  for (let cursor: string | undefined; ; pages += 1) {
    const page = await waybill.jobs.list({ limit: 100, ...(cursor !== undefined && { cursor }) });
    expect(page.items.every(({ spec }) => spec.args[0] === huge)).toBe(true);
    seen.push(...page.items.map(({ id }) => id));
    if (page.cursor === undefined) break;
    cursor = page.cursor;
  }
  expect(seen).toEqual(ids.toReversed());
  expect(pages).toBe(1);
});

test('a blob is the JSON of its payload, for whoever is given its address', async () => {
  const { put, path } = await largeEngine();
  const { id } = await put();
  const [name] = await readdir(path(id));
  expect(JSON.parse(await readFile(join(path(id), name!), 'utf8'))).toEqual([LARGE]);
});

test.each([0, 15, 1.5, Number.NaN])('a threshold of %d is refused', async (threshold) => {
  const { blobs, remove } = await temporaryBlobs();
  onTestFinished(remove);
  expect(() => testEngine({ blobs: { store: blobs, threshold } })).toThrow(
    expect.objectContaining({ code: 'invalid_request' }),
  );
});

/** The folder goes by the time of the machine, the engine by the test's. */
async function aged(folder: string, moment: number): Promise<void> {
  for (const name of await readdir(folder)) await utimes(join(folder, name), moment / 1_000, moment / 1_000);
}

/** Lets time pass, and then half an hour for a round of the upkeep, which takes its own time to look at files. */
async function pass(clock: TestClock, ms: number): Promise<void> {
  for (const step of [ms, HOUR_MS / 2]) {
    await clock.whenSleeping(2);
    await clock.advance(step);
  }
  await clock.whenSleeping(2);
}
