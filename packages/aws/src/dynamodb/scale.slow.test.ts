import { BatchWriteItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Job } from '@waybill/core';
import { aJob, aWorkflow, settleChange, someJobs, type TestClock, versionChange } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inParallel } from './database.ts';
import { jobPk } from './keys.ts';
import type { DynamoOptions } from './settings.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';

const COMPLETED = { kind: 'completed', result: { ok: true } } as const;

describe.skipIf(!canRun)('much of it on DynamoDB (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  async function open(options: Partial<DynamoOptions> & { clock?: TestClock } = {}) {
    const opened = await local.open(options);
    onTestFinished(opened.close);
    return opened;
  }

  const request = (clock: TestClock, claimId: string, limit = 100) => ({
    ...{ tenant: '', queues: ['default'], limit, claimId, workerId: 'w', leaseMs: 30_000 },
    now: clock.now(),
  });

  // fault: none, the rule itself
  it('guarantee 8: a child of 200 parents starts once, after the last of them', async () => {
    const { store, clock } = await open();
    const parents = someJobs(200, { workflowId: 'flow' });
    const child = aJob({ workflowId: 'flow', state: 'pending' });
    const edges = parents.map(({ job }) => ({ parent: job.id, child: child.job.id }));
    const create = aWorkflow({ total: 201 });
    const [answer] = await store.insert([{ jobs: [...parents, child], edges, workflow: { create } }]);
    expect(answer!.status).toBe('inserted');
    const ids = parents.map(({ job }) => job.id);
    const finish = async (some: readonly string[]) => {
      const answers = await store.claimById({ ...request(clock, `c-${some[0]}`), ids: some });
      const claimed = answers.map((one) => (one.status === 'claimed' ? one.job : null));
      await store.apply(claimed.map((job) => settleChange(job!, COMPLETED, clock.now())));
      return store.workflows.meet({ tenant: '', ids: some });
    };
    expect(await finish(ids.slice(0, 100))).toEqual([]);
    expect(await finish(ids.slice(100, 199))).toEqual([]);
    expect(await store.workflows.hasUnfinished('', 'flow')).toBe(true);
    expect((await finish(ids.slice(199))).map(({ id }) => id)).toEqual([child.job.id]);
    const [results] = await store.workflows.parents({ tenant: '', ids: [child.job.id] });
    expect(results!.map(({ id }) => id)).toEqual(ids);
  });

  // fault: the runs under way are older than any job that a look at the queue's newest ones would find
  it('B13, guarantee 7: a limit counts runs under way beside more than 10,000 newer jobs', async () => {
    const table = local.newTable();
    const { store, clock } = await open({ table });
    await store.insert(someJobs(3).map((job) => ({ jobs: [job] })));
    const [running] = await store.claim([request(clock, 'c')]);
    expect(running).toHaveLength(3);
    const newer = aJob({ state: 'pending' });
    await store.insert([{ jobs: [newer] }]);
    const client = local.client();
    const Key = { pk: { S: jobPk('', newer.job.id) }, sk: { S: 'J' } };
    const { Item } = await client.send(new GetItemCommand({ TableName: table, Key }));
    const copies = Array.from({ length: 10_000 }, () => ({ ...Item, pk: { S: jobPk('', aJob().job.id) } }));
    const batches = Array.from({ length: 400 }, (_, index) => copies.slice(index * 25, index * 25 + 25));
    await inParallel(batches, (batch) =>
      client.send(
        new BatchWriteItemCommand({ RequestItems: { [table]: batch.map((copy) => ({ PutRequest: { Item: copy } })) } }),
      ),
    );
    await store.queues.setLimit('', 'default', { concurrency: 4, rate: null });
    await store.insert(someJobs(3).map((job) => ({ jobs: [job] })));
    const [more] = await store.claim([request(clock, 'd')]);
    expect(more).toHaveLength(1);
  });

  it('gives in the order of rank where a queue has one shard', async () => {
    const { store, clock } = await open();
    const made = [
      aJob({ seq: 40 }),
      aJob({ seq: 50, priority: 100 }),
      aJob({ seq: 10, priority: -100 }),
      aJob({ seq: 30 }),
    ];
    await store.insert(made.map((job) => ({ jobs: [job] })));
    const [jobs] = await store.claim([request(clock, 'c')]);
    expect(jobs!.map(({ seq }) => seq)).toEqual([50, 30, 40, 10]);
  });

  it('shards: everything is claimed, listed and due, also by a process that knows of fewer', async () => {
    const table = local.newTable();
    const { store, clock } = await open({ table, shards: { due: 3, queues: { default: 4 } } });
    const jobs = [...someJobs(20), ...someJobs(5, { scheduledAt: clock.now() + 1000 })];
    await store.insert(jobs.map((job) => ({ jobs: [job] })));
    const other = await local.open({ table, clock, shards: { due: 3 } });
    const listed = (await other.store.list({ filter: { tenant: '' }, limit: 50 })).items.map(({ id }) => id);
    expect(listed).toEqual(
      jobs
        .map(({ job }) => job.id)
        .sort()
        .reverse(),
    );
    expect((await other.store.claim([request(clock, 'a', 12)]))[0]).toHaveLength(12);
    expect((await other.store.claim([request(clock, 'b')]))[0]).toHaveLength(8);
    await clock.advance(1000);
    expect((await store.due({ now: clock.now(), limit: 50 })).jobs).toHaveLength(5);
    const few = await store.due({ now: clock.now(), limit: 2 });
    expect([few.jobs.length, few.nextAt]).toEqual([2, clock.now()]);
  });

  it.each([100, 150, 200, 250, 700, 5000, 100_000])('keeps args, results and errors of %i bytes', async (size) => {
    const { store, clock } = await open();
    const large = 'x'.repeat(size);
    const made = aJob({ spec: { args: [large], meta: {} } });
    await store.insert([{ jobs: [made] }]);
    const [[first]] = (await store.claim([request(clock, 'a')])) as [[Job]];
    expect(first.spec.args).toEqual([large]);
    await store.apply([settleChange(first, { kind: 'failed', error: { code: 'boom', message: large } }, clock.now())]);
    const [failed] = await store.get([made.job]);
    expect(failed!.errors[0]!.message).toBe(large);
    await clock.advance(3_600_000);
    const [again] = (await store.due({ now: clock.now(), limit: 1 })).jobs;
    expect(again).toEqual(failed);
    const { items } = await store.list({ filter: { tenant: '' }, limit: 1 });
    expect(items).toEqual([failed]);
    await store.apply([versionChange(again!, { do: 'tick' }, clock.now())!]);
    const [[second]] = (await store.claim([request(clock, 'b')])) as [[Job]];
    expect(await store.get([made.job])).toEqual([second]);
    expect(second.errors).toEqual(failed!.errors);
    await store.apply([settleChange(second, { kind: 'completed', result: { large } }, clock.now())]);
    expect((await store.get([made.job]))[0]).toMatchObject({
      result: { large },
      errors: failed!.errors,
      spec: made.job.spec,
    });
  });

  it('refuses what no item can hold', async () => {
    const { store } = await open();
    const made = aJob({ spec: { args: ['x'.repeat(450_000)], meta: {} } });
    await expect(store.insert([{ jobs: [made] }])).rejects.toMatchObject({ code: 'payload_too_large' });
  });
});
