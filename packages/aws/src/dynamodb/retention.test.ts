import { DeleteItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { type Edge, engine, type Job, type NewJob, type Store, type WorkflowState } from '@waybill/core';
import { aJob, aWorkflow, settleChange, type TestClock, versionChange } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { canRun, useLocalDynamo } from './testing/bench.ts';
import { say } from './testing/journal.ts';

const COMPLETED = { kind: 'completed', result: null } as const;
const DEAD = { kind: 'discarded', error: { code: 'boom', message: 'It broke.' }, deadLetter: true } as const;
const UNUSED_MS = 200_000;
const RETENTION = { finishedMs: 10_000, deadMs: 100_000, eventsMs: 30_000, unusedMs: UNUSED_MS };

/** DynamoDB removes what has expired within days; the store hides it from the moment on. */
describe.skipIf(!canRun)('what is over on DynamoDB (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  async function open() {
    const opened = await local.open({ retention: RETENTION });
    onTestFinished(opened.close);
    return opened;
  }

  const lease = (clock: TestClock) => ({ claimId: 'c', workerId: 'w', leaseMs: 5000, now: clock.now() });

  it('a finished job is gone when its time is over, and a dead one when its own is', async () => {
    const { store, clock } = await open();
    const [done, dead] = [aJob({ spec: { args: ['x'.repeat(3000)], meta: {} } }).job, aJob().job];
    await store.insert([done, dead].map((job) => ({ jobs: [{ job, events: [] }] })));
    const claimed = await store.claimById({ tenant: '', ids: [done.id, dead.id], ...lease(clock) });
    const jobs = claimed.map((answer) => (answer.status === 'claimed' ? answer.job : done));
    await store.apply([settleChange(jobs[0]!, COMPLETED, clock.now()), settleChange(jobs[1]!, DEAD, clock.now())]);
    const found = async () => (await store.get([done, dead])).map((job) => job?.state ?? null);
    await clock.advance(RETENTION.finishedMs - 1000);
    expect(await found()).toEqual(['completed', 'discarded']);
    await clock.advance(1000);
    expect(await found()).toEqual([null, 'discarded']);
    expect((await store.list({ filter: { tenant: '' }, limit: 10 })).items.map(({ id }) => id)).toEqual([dead.id]);
    expect(await store.count({ tenant: '' }, { atMost: 10 })).toBe(1);
    expect(await store.claimById({ tenant: '', ids: [done.id], ...lease(clock) })).toEqual([{ status: 'unknown' }]);
    await clock.advance(RETENTION.deadMs);
    expect(await found()).toEqual([null, null]);
  });

  it('A2: nodes live as long as their workflow, and then as long as its retention says', async () => {
    const table = local.newTable();
    const { store, clock, close } = await local.open({ retention: RETENTION, table });
    onTestFinished(close);
    const [a, b, c] = ['a', 'b', 'c'].map((node) =>
      aJob({ workflowId: 'flow', node, state: node === 'c' ? 'pending' : 'available', createdAt: clock.now() }),
    );
    const join = aJob().job.id;
    const edges: Edge[] = [a, b].map((made) => ({ parent: made!.job.id, child: join, join: 'into_join' }));
    edges.push({ parent: join, child: c!.job.id, join: 'out_of_join' });
    const create = aWorkflow({ total: 3, createdAt: clock.now() });
    await store.insert([{ jobs: [a!, b!, c!], edges, workflow: { create } }]);
    const run = async (id: string, outcome: typeof COMPLETED | typeof DEAD) => {
      const [claimed] = await store.claimById({ tenant: '', ids: [id], ...lease(clock), claimId: id });
      if (claimed?.status !== 'claimed') throw new Error('Not claimed.');
      await say(store, claimed.job, [1, 1]);
      await store.apply([settleChange(claimed.job, outcome, clock.now())]);
      const [row] = await store.get([{ tenant: '', id }]);
      await store.apply([versionChange(row!, { do: 'advanced' }, clock.now())!]);
    };
    const prune = () => store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, limit: 100 });
    const states = async () => (await store.get([a!.job, b!.job, c!.job])).map((job) => job?.state ?? null);
    const move = (from: WorkflowState, to: WorkflowState) =>
      store.workflows.move({ tenant: '', id: 'flow', from, to, now: clock.now(), jobs: [] });
    await run(a!.job.id, COMPLETED);
    await run(b!.job.id, DEAD);
    await store.apply([versionChange(c!.job, { do: 'cancel' }, clock.now())!]);
    await store.apply([versionChange((await store.get([c!.job]))[0]!, { do: 'advanced' }, clock.now())!]);
    const all = ['completed', 'discarded', 'cancelled'];
    await clock.advance(10 * RETENTION.deadMs);
    expect([await prune(), await states()]).toMatchObject([{ jobs: 0, more: false }, all]);
    await move('running', 'failed');
    await move('failed', 'running');
    await clock.advance(10 * RETENTION.deadMs);
    expect([await prune(), await states()]).toMatchObject([{ jobs: 0, more: false }, all]);
    await move('running', 'failed');
    await clock.advance(RETENTION.finishedMs - 1);
    expect([await prune(), await states()]).toMatchObject([{ jobs: 0, more: false }, all]);
    await clock.advance(1);
    expect([await prune(), await states()]).toMatchObject([{ jobs: 2, more: false }, [null, 'discarded', null]]);
    expect(await store.workflows.get('', 'flow')).toMatchObject({ state: 'failed' });
    await clock.advance(RETENTION.deadMs);
    expect([await prune(), await states()]).toMatchObject([{ jobs: 1, more: false }, [null, null, null]]);
    expect(await store.workflows.get('', 'flow')).toBeNull();
    const { Items = [] } = await local.client().send(new ScanCommand({ TableName: table }));
    expect(Items.map(({ pk }) => pk!.S!).filter((pk) => /^[JW]#/.test(pk))).toEqual([]);
  });

  it('its id, its idempotency key and its unique key are free again', async () => {
    const { store, clock } = await open();
    const made = () => ({ ...aJob({ idempotencyKey: 'i', uniqueKey: 'u' }), unique: { key: 'u', owner: null } });
    const first = made();
    await store.insert([{ jobs: [first] }]);
    await store.apply([versionChange(first.job, { do: 'cancel' }, clock.now())!]);
    expect(await store.insert([{ jobs: [made()] }])).toMatchObject([{ status: 'repeated' }]);
    await clock.advance(RETENTION.finishedMs);
    expect(await store.insert([{ jobs: [first] }])).toMatchObject([{ status: 'inserted' }]);
    expect(await store.insert([{ jobs: [made()] }])).toMatchObject([{ status: 'repeated' }]);
  });

  it('a dead job that comes back to life keeps what belongs to it', async () => {
    const { store, clock } = await open();
    const spec = { args: ['x'.repeat(3000)], meta: {} };
    const made = { ...aJob({ uniqueKey: 'u', spec }), unique: { key: 'u', owner: null } };
    await store.insert([{ jobs: [made] }]);
    const [claimed] = await store.claimById({ tenant: '', ids: [made.job.id], ...lease(clock) });
    if (claimed?.status !== 'claimed') throw new Error('Not claimed.');
    await store.apply([settleChange(claimed.job, DEAD, clock.now())]);
    const [dead] = await store.get([made.job]);
    await store.apply([versionChange(dead!, { do: 'replay' }, clock.now())!]);
    await clock.advance(10 * RETENTION.deadMs);
    expect((await store.get([made.job]))[0]).toMatchObject({ state: 'available', spec });
    const taken = await store.insert([{ jobs: [{ ...aJob({ uniqueKey: 'u' }), unique: made.unique }] }]);
    expect(taken).toMatchObject([{ status: 'taken', job: { id: made.job.id } }]);
  });

  it('events go when their time is over, and a reader that had not seen them is told', async () => {
    const { store, clock } = await open();
    const start = await store.events.end();
    await store.insert([{ jobs: [aJob()] }]);
    const seen = await store.events.end();
    await clock.advance(RETENTION.eventsMs);
    const { job } = aJob();
    await store.insert([{ jobs: [{ job, events: aJob({ id: job.id }).events }] }]);
    for (const upkeep of [false, true]) {
      if (upkeep) await store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, limit: 1 });
      expect(await store.events.read({ filter: { tenant: '*' }, after: start, limit: 9 })).toMatchObject({
        missed: true,
        events: [{ jobId: job.id }],
      });
      expect(await store.events.read({ filter: { tenant: '*' }, after: seen, limit: 9 })).toMatchObject({
        missed: false,
        events: [{ jobId: job.id }],
      });
      expect(await store.events.read({ filter: { tenant: '*' }, limit: 9 })).toMatchObject({
        missed: false,
        events: [{ jobId: job.id }],
      });
    }
  });

  const beat = { tenant: '', activeJobs: 0 };
  const RULE = { concurrency: 1, rate: null };
  const prune = (store: Store) =>
    store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, unusedBefore: 0, limit: 100 });
  const namesOf = async (store: Store) => (await store.queues.list('')).map(({ name }) => name);

  async function run(store: Store, clock: TestClock, made: NewJob): Promise<Job> {
    await store.insert([{ jobs: [made] }]);
    const claimId = `claim ${made.job.id}`;
    const [claimed] = await store.claimById({ tenant: '', ids: [made.job.id], ...lease(clock), claimId });
    if (claimed?.status !== 'claimed') throw new Error('Not claimed.');
    await store.apply([settleChange(claimed.job, DEAD, clock.now())]);
    return (await store.get([made.job]))[0]!;
  }

  it('A22: workers that nobody has seen for so long are gone', async () => {
    const { store, clock } = await open();
    await store.workers.beat({ ...beat, id: 'a', now: clock.now() });
    await clock.advance(UNUSED_MS - 1_000);
    await store.workers.beat({ ...beat, id: 'b', now: clock.now() });
    await clock.advance(1_000);
    expect((await store.workers.list('')).map(({ id }) => id)).toEqual(['b']);
  });

  it('B15: a limit that came with a job goes, one that is set or in use stays', async () => {
    const { store, clock } = await open();
    const limited = (limitKey: string) => ({ ...aJob({ limitKey, createdAt: clock.now() }), limit: RULE });
    for (const key of ['came', 'was-set']) await run(store, clock, limited(key));
    await store.limits.set('', 'was-set', RULE, clock.now());
    await store.insert([{ jobs: [limited('held')] }]);
    await clock.advance(UNUSED_MS + 1_000);
    expect(await store.limits.get('', 'came')).toBeNull();
    for (const key of ['was-set', 'held']) expect(await store.limits.get('', key)).toMatchObject({ rule: RULE });
  });

  // fault: DynamoDB has removed the limit before jobs of it are run again
  it('B15: guarantee 7: a job that is run again brings its removed limit back', async () => {
    const table = local.newTable();
    const { store, clock, close } = await local.open({ table, retention: RETENTION });
    onTestFinished(close);
    const spec = { args: [], meta: {}, options: { rate_limit: { key: 'k', concurrency: 1 } } };
    const limited = () => ({ ...aJob({ limitKey: 'k', spec, createdAt: clock.now() }), limit: RULE });
    const dead = [await run(store, clock, limited()), await run(store, clock, limited())];
    const Key = { pk: { S: 'L##k' }, sk: { S: 'L' } };
    const removed = await local
      .client()
      .send(new DeleteItemCommand({ TableName: table, Key, ReturnValues: 'ALL_OLD' }));
    expect(removed.Attributes).toHaveProperty('x');
    for (const job of dead) await store.apply([versionChange(job, { do: 'replay' }, clock.now())!]);
    expect(await store.limits.get('', 'k')).toMatchObject({ rule: RULE, holders: 1, parked: 1 });
  });

  it('A22: a queue that nobody uses goes, and is listed again with its next job', async () => {
    const { store, clock } = await open();
    for (const queue of ['old', 'paused']) await run(store, clock, aJob({ queue, createdAt: clock.now() }));
    await store.queues.setPaused('', 'paused', true);
    await store.insert([{ jobs: [aJob({ queue: 'waiting', createdAt: clock.now() })] }]);
    await clock.advance(UNUSED_MS);
    await prune(store);
    expect(await namesOf(store)).toEqual(['old', 'paused', 'waiting']);
    await clock.advance(2 * 86_400_000);
    expect(await prune(store)).toMatchObject({ more: false });
    expect(await namesOf(store)).toEqual(['paused', 'waiting']);
    await store.insert([{ jobs: [aJob({ queue: 'old', createdAt: clock.now() })] }]);
    expect(await namesOf(store)).toEqual(['old', 'paused', 'waiting']);
    expect(await store.queues.stats('', 'old', { atMost: 9 })).toMatchObject({ available: 1, discarded: 0 });
  });

  it('the engine says how long, also in a process without upkeep', async () => {
    const { store, clock } = await local.open();
    const retention = { ...RETENTION, everyMs: 1_000 };
    const waybill = engine({ store, retention, maintenance: false });
    onTestFinished(() => waybill.close());
    const start = await waybill.events.end();
    const end = async (outcome: typeof COMPLETED | typeof DEAD) => {
      const { job } = await waybill.jobs.enqueue({ type: 'a.b', args: [] });
      const [lease] = await waybill.jobs.claim({ queues: ['default'] });
      await waybill.jobs.settle({ id: job.id, leaseToken: lease!.token, outcome });
      return job.id;
    };
    const [done, dead] = [await end(COMPLETED), await end(DEAD)];
    await clock.advance(RETENTION.finishedMs);
    await expect(waybill.jobs.get(done)).rejects.toMatchObject({ code: 'not_found' });
    expect(await waybill.jobs.get(dead)).toMatchObject({ dead: true });
    const { events } = await waybill.events.read({ after: start, limit: 99 });
    expect(new Set(events.map(({ jobId }) => jobId))).toEqual(new Set([done, dead]));
    await clock.advance(RETENTION.eventsMs - RETENTION.finishedMs);
    expect(await waybill.events.read({ after: start, limit: 99 })).toMatchObject({ events: [], missed: true });
    await clock.advance(RETENTION.deadMs - RETENTION.eventsMs);
    await expect(waybill.jobs.get(dead)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('a queue that keeps nothing leaves neither the row nor its events', async () => {
    const { store } = await local.open();
    const waybill = engine({ store, retention: { finishedMs: 3_600_000 }, maintenance: false });
    onTestFinished(() => waybill.close());
    await waybill.queues.setKeep('default', 'none');
    const start = await waybill.events.end();
    const { job } = await waybill.jobs.enqueue({ type: 'a.b', args: [] });
    const [lease] = await waybill.jobs.claim({ queues: ['default'] });
    await waybill.jobs.settle({ id: job.id, leaseToken: lease!.token, outcome: COMPLETED });
    await expect(waybill.jobs.get(job.id)).rejects.toMatchObject({ code: 'not_found' });
    expect((await waybill.events.read({ after: start, limit: 99 })).events).toEqual([]);
  });
});
