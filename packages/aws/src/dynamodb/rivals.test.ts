import type { Job, NewJob, Store } from '@waybill/core';
import { aCron, aJob, aWorkflow, settleChange, TestClock, versionChange } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answered, FaultyProxy } from '../testing/faulty-proxy.ts';
import { localClient } from '../testing/local-dynamo.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';

/** Tells a hang from an answer. */
const HANGS_MS = 30_000;
const KEY = 'key';
const DEAD = { kind: 'discarded', error: { code: 'boom', message: '' }, deadLetter: true } as const;

const wanting = (owner: Job | null): NewJob => ({
  ...aJob({ uniqueKey: KEY }),
  unique: { key: KEY, owner: owner && { id: owner.id, version: owner.version } },
});

const insertOne = async (store: Store, made: NewJob) => (await store.insert([{ jobs: [made] }]))[0]!.status;

const claim = async (store: Store) => {
  const lease = { claimId: crypto.randomUUID(), workerId: 'w', leaseMs: 600_000 };
  return (await store.claim([{ tenant: '', queues: ['default'], limit: 10, ...lease, now: store.clock.now() }]))[0]!;
};

const move = async (store: Store, to: 'completed' | 'failed', total?: number) => {
  const request = { tenant: '', id: 'flow', from: 'running', to, now: store.clock.now(), jobs: [aJob()] } as const;
  return (await store.workflows.move({ ...request, ...(total !== undefined && { total }) })).status;
};

const plant = (store: Store) =>
  store.insert([
    { jobs: [aJob({ queue: 'other', workflowId: 'flow' })], workflow: { create: aWorkflow({ total: 1 }) } },
  ]);

const join = async (store: Store, node: string | null = null) => {
  const jobs = [aJob({ workflowId: 'flow', node })];
  return (await store.insert([{ jobs, workflow: { join: 'flow' } }]))[0]!.status;
};

/** A dead job that owns the key. */
async function bury(store: Store): Promise<Job> {
  await store.insert([{ jobs: [wanting(null)] }]);
  const [running] = await claim(store);
  await store.apply([settleChange(running!, DEAD, store.clock.now())]);
  return (await store.get([running!]))[0]!;
}

const replay = async (store: Store, dead: Job) =>
  (await store.apply([versionChange(dead, { do: 'replay' }, store.clock.now())!]))[0]!.status;

// Conditions that one process never sees violated: its own calls about one thing stand in line.
describe.skipIf(!canRun)('two processes on one table of DynamoDB (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  /** The first process has read what it decides by; the second one acts before the transaction of the first arrives. */
  async function meet<S, T>(scene: {
    prepare(store: Store): Promise<S>;
    first(store: Store, prepared: S): Promise<T>;
    second(store: Store, prepared: S): Promise<T>;
  }) {
    const [table, clock] = [local.newTable(), new TestClock()];
    const rival = await local.open({ table, clock });
    onTestFinished(rival.close);
    const proxy = await FaultyProxy.start(local.endpoint());
    onTestFinished(() => proxy.close());
    const client = localClient(proxy.endpoint, local.accessKey());
    onTestFinished(() => client.destroy());
    const { store } = await local.open({ table, client, clock });
    const prepared = await scene.prepare(rival.store);
    const holding = proxy.hold('request', 'TransactWriteItems');
    const first = scene.first(store, prepared);
    const letGo = await answered(holding, HANGS_MS);
    const second = await answered(scene.second(rival.store, prepared), HANGS_MS);
    letGo();
    return { store: rival.store, first: await answered(first, HANGS_MS), second, prepared };
  }

  // fault: another process acts between the read and the write of this one
  it('guarantee 9: a tick that another process has fired meanwhile is lost', async () => {
    const fire = async (store: Store, { tenant, name, version, nextAt }: ReturnType<typeof aCron>) => {
      const [tick, expected] = [nextAt!, { version, nextAt: nextAt! }];
      const answer = await store.crons.fire({ tenant, name, expected, nextAt: tick + 60_000, tick, job: aJob() });
      return answer.status;
    };
    const met = await meet({ prepare: (store) => store.crons.put(aCron()), first: fire, second: fire });
    expect([met.first, met.second]).toEqual(['lost', 'fired']);
    expect(await met.store.crons.get('', met.prepared.name)).toMatchObject({ runs: 1 });
    expect(await claim(met.store)).toHaveLength(1);
  });

  // fault: another process acts between the read and the write of this one
  it('guarantee 10: an idempotency key that another process has used meanwhile answers its job', async () => {
    const insert = (store: Store) => insertOne(store, aJob({ idempotencyKey: KEY }));
    const met = await meet({ prepare: async () => {}, first: insert, second: insert });
    expect([met.first, met.second]).toEqual(['repeated', 'inserted']);
    expect(await claim(met.store)).toHaveLength(1);
  });

  // fault: another process acts between the read and the write of this one
  it('guarantee 7: a unique key that another process has taken meanwhile is taken', async () => {
    const insert = (store: Store) => insertOne(store, wanting(null));
    const met = await meet({ prepare: async () => {}, first: insert, second: insert });
    expect([met.first, met.second]).toEqual(['taken', 'inserted']);
    expect(await claim(met.store)).toHaveLength(1);
  });

  // fault: another process acts between the read and the write of this one
  it('guarantee 7: an owner that another process has brought back meanwhile is not followed', async () => {
    const follow = (store: Store, dead: Job) => insertOne(store, wanting(dead));
    const met = await meet({ prepare: bury, first: follow, second: replay });
    expect([met.first, met.second]).toEqual(['taken', 'applied']);
    expect(await claim(met.store)).toMatchObject([{ id: met.prepared.id }]);
  });

  // fault: another process acts between the read and the write of this one
  it('guarantee 7: a dead job whose key another process has taken meanwhile stays dead', async () => {
    const follow = (store: Store, dead: Job) => insertOne(store, wanting(dead));
    const met = await meet({ prepare: bury, first: replay, second: follow });
    expect([met.first, met.second]).toEqual(['lost', 'inserted']);
    expect((await met.store.get([met.prepared]))[0]).toMatchObject({ state: 'discarded' });
  });

  // fault: another process acts between the read and the write of this one
  it('guarantee 7: a slot that another process has given away meanwhile is not given again', async () => {
    const insert = (store: Store) => insertOne(store, aJob({ limitKey: 'k' }));
    const rule = { concurrency: 1, rate: null };
    const prepare = async (store: Store) => void (await store.limits.set('', 'k', rule, store.clock.now()));
    const met = await meet({ prepare, first: insert, second: insert });
    expect([met.first, met.second]).toEqual(['inserted', 'inserted']);
    expect(await met.store.limits.get('', 'k')).toMatchObject({ holders: 1, parked: 1 });
    expect(await claim(met.store)).toHaveLength(1);
  });

  // fault: another process acts between the read and the write of this one
  it('guarantee 7: a queue that another process has filled meanwhile gives no more', async () => {
    const prepare = async (store: Store) => {
      await store.queues.setLimit('', 'default', { concurrency: 1, rate: null });
      const jobs = [aJob(), aJob()];
      await store.insert(jobs.map((job) => ({ jobs: [job] })));
      return jobs.map(({ job }) => job.id);
    };
    // Two different jobs, so that only the count of the queue can be in the way.
    const claimOne = async (store: Store, id: string) => {
      const lease = { claimId: crypto.randomUUID(), workerId: 'w', leaseMs: 600_000 };
      return (await store.claimById({ tenant: '', ids: [id], ...lease, now: store.clock.now() }))[0]!.status;
    };
    const met = await meet({
      prepare,
      first: (store, [one]) => claimOne(store, one!),
      second: (store, [, other]) => claimOne(store, other!),
    });
    expect([met.first, met.second]).toEqual(['parked', 'claimed']);
  });

  // fault: another process acts between the read and the write of this one
  it('guarantee 8: a workflow that another process has ended meanwhile is not ended again', async () => {
    const first = (store: Store) => move(store, 'completed');
    const second = (store: Store) => move(store, 'failed');
    const met = await meet({ prepare: plant, first, second });
    expect([met.first, met.second]).toEqual(['lost', 'moved']);
    expect(await met.store.workflows.get('', 'flow')).toMatchObject({ state: 'failed' });
    expect(await claim(met.store)).toHaveLength(1);
  });

  // fault: another process acts between the read and the write of this one
  it('guarantee 8: nobody joins a workflow that another process has ended meanwhile', async () => {
    const met = await meet<unknown, string>({
      prepare: plant,
      first: (store) => join(store),
      second: (store) => move(store, 'failed'),
    });
    expect([met.first, met.second]).toEqual(['closed', 'moved']);
    expect(await met.store.workflows.get('', 'flow')).toMatchObject({ total: 1 });
  });

  // fault: another process adds a node between the read and the write of the one that ends the workflow
  it('A3: a workflow that another process has added a node to does not end', async () => {
    const met = await meet<unknown, string>({
      prepare: plant,
      first: (store) => move(store, 'completed', 1),
      second: (store) => join(store),
    });
    expect([met.first, met.second]).toEqual(['lost', 'inserted']);
    expect(await met.store.workflows.get('', 'flow')).toMatchObject({ state: 'running', total: 2 });
  });

  // fault: another process claims from another queue between the read and the write of this one
  it('guarantee 7: two processes that claim at once start no more jobs of a tenant than it may run', async () => {
    const take = async (store: Store, queue: string) => {
      const lease = { claimId: crypto.randomUUID(), workerId: 'w', leaseMs: 600_000, now: store.clock.now() };
      return (await store.claim([{ tenant: '', queues: [queue], limit: 10, ...lease }]))[0]!.length;
    };
    const met = await meet<unknown, number>({
      prepare: async (store) => {
        await store.queues.setTenantLimit('', 3);
        await store.insert(['a', 'a', 'b', 'b'].map((queue) => ({ jobs: [aJob({ queue })] })));
      },
      first: (store) => take(store, 'a'),
      second: (store) => take(store, 'b'),
    });
    // The first one looks again and takes what is left.
    expect([met.first, met.second]).toEqual([1, 2]);
    expect(await met.store.count({ tenant: '', states: ['active'] }, { atMost: 10 })).toBe(3);
  });

  // fault: another process adds the same node between the read and the write of this one
  it('A4: two processes that add a node of the same name add one', async () => {
    const add = (store: Store) => join(store, 'b');
    const met = await meet<unknown, string>({ prepare: plant, first: add, second: add });
    expect([met.first, met.second]).toEqual(['named', 'inserted']);
    expect(await met.store.workflows.get('', 'flow')).toMatchObject({ total: 2 });
  });
});
