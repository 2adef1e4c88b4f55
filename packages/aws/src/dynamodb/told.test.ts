import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { LoggedEvent, NewJob, Store, Told } from '@waybill/core';
import { aCron, aJob, aWorkflow, someJobs, TEST_EPOCH, TestClock } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { denied, refusing } from '../testing/denying.ts';
import { answered, FaultyProxy } from '../testing/faulty-proxy.ts';
import { localClient } from '../testing/local-dynamo.ts';
import { toAttributes } from './items.ts';
import { confirmedBy, subjectKey } from './keys.ts';
import { ORPHANED_AFTER_MS } from './orphan-watch.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';
import { checkLog, crashEverywhere } from './testing/crash.ts';
import { aFact, factsIn, starting } from './testing/facts.ts';
import { type Faults, FaultyClient } from './testing/faulty-client.ts';

/** Tells a hang from an answer. */
const HANGS_MS = 30_000;

const isPaused = async (store: Store) => (await store.queues.list('')).map(({ name, paused }) => [name, paused]);
const pause = (store: Store, paused = true) =>
  store.queues.setPaused('', 'q', paused, aFact(paused ? 'queue.paused' : 'queue.resumed', 'q'));

const fire = (store: Store, job: NewJob) => {
  const { version, nextAt } = aCron();
  const expected = { version, nextAt: nextAt! };
  const told = aFact('cron.triggered', 'c');
  return store.crons.fire({ tenant: '', name: 'c', expected, tick: nextAt!, nextAt: null, job, told });
};
const move = (store: Store, job: NewJob) => {
  const end = { tenant: '', id: 'flow', from: 'running', to: 'failed', now: TEST_EPOCH } as const;
  return store.workflows.move({ ...end, jobs: [job], told: aFact('workflow.failed', 'flow') });
};

describe.skipIf(!canRun)('what DynamoDB tells of subjects (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  async function open(faults: Faults = {}, options: { largestTransaction?: number } = {}) {
    const [table, clock] = [local.newTable(), new TestClock()];
    const opened = await local.open({ table, clock, ...options });
    onTestFinished(opened.close);
    const another = async () => {
      const client = new FaultyClient(local.client());
      const { store } = await local.open({ table, clock, client });
      client.faults = faults;
      return { store, client };
    };
    const stored = async (kind: string, subject: string) => {
      const Key = toAttributes(subjectKey({ tenant: '', kind, subject }));
      return (await local.client().send(new GetItemCommand({ TableName: table, Key, ConsistentRead: true }))).Item;
    };
    return { ...opened, table, another, stored };
  }

  /** What is there when readers have settled what nobody has confirmed. */
  async function settled(store: Store, clock: TestClock): Promise<LoggedEvent[]> {
    await checkLog(store);
    await clock.advance(ORPHANED_AFTER_MS);
    return checkLog(store);
  }

  // fault: the process dies after each of its requests
  it('guarantee 4: a process that dies at any point of a queue change leaves the change and its event, or neither', async () => {
    const between = async (store: Store) => expect([[], [['q', true]]]).toContainEqual(await isPaused(store));
    const tried = await crashEverywhere(local, {
      prepare: async () => {},
      act: (store) => pause(store),
      between,
      check: async (store) => expect(await isPaused(store)).toEqual([['q', true]]),
      tells: ['queue.paused 1'],
    });
    // The queue, the count, the place in the log, the segment, the transaction, the confirmation.
    expect(tried).toBe(6);
  });

  it('a change whose writer died before he confirmed it is found true, and the next one goes on counting', async () => {
    const { table, clock, store } = await open();
    const client = refusing(local.client(), (command, input) => {
      const { pk, sk } = (input['Item'] ?? {}) as Record<string, { S: string }>;
      const isConfirmation = command === 'PutItem' && confirmedBy({ pk: pk!.S, sk: sk!.S }) !== null;
      return isConfirmation ? denied('dynamodb:PutItem', table) : undefined;
    });
    const dying = await local.open({ table, clock, client });
    await expect(pause(dying.store)).rejects.toThrow('not authorized');
    expect(await isPaused(store)).toEqual([['q', true]]);
    await pause(store);
    await pause(store, false);
    expect(factsIn(await checkLog(store))).toEqual([]);
    expect(factsIn(await settled(store, clock))).toEqual(['queue.paused 1', 'queue.resumed 2']);
  });

  it('a change whose writer died before its transaction is told as lost, and the fence in its place is no count', async () => {
    const { table, clock, store, stored } = await open();
    const client = refusing(local.client(), (command) =>
      command === 'TransactWriteItems' ? denied('dynamodb:PutItem', table) : undefined,
    );
    const dying = await local.open({ table, clock, client });
    await expect(pause(dying.store)).rejects.toThrow('not authorized');
    expect(factsIn(await settled(store, clock))).toEqual([]);
    expect(await store.confirmedEvents(1)).toEqual([]);
    const fence = await stored('queue', 'q');
    expect(fence).toMatchObject({ fn: { N: '1' }, x: expect.anything() });
    expect(fence).not.toHaveProperty('n');
    await pause(store);
    expect(factsIn(await checkLog(store))).toEqual(['queue.paused 1']);
    const item = await stored('queue', 'q');
    expect(item).toMatchObject({ n: { N: '1' } });
    // Or DynamoDB would remove the count with the fence, and the queue would be counted from 1 again beside its events.
    expect(Number(item!['x']!.N) * 1000).toBeGreaterThan(clock.now() + 30 * 86_400_000);
  });

  // fault: answers are lost, and another process writes between read and write
  it.each<[string, Faults]>([
    ['each by itself', {}],
    ['whose answers are lost', { loseEvery: 5 }],
    ['whose writes conflict', { conflictEvery: 4 }],
  ])('guarantee 4: processes %s that tell of the same subjects leave no gap and no double', async (_, faults) => {
    const { store, clock, another } = await open(faults);
    await store.crons.put(aCron({ name: 'c' }));
    const workers = await Promise.all([another(), another(), another()]);
    const act = async ({ store: own }: { store: Store }) => {
      for (let turn = 0; turn < 4; turn++) {
        await own.events.tell([aFact('key.noted', 'a'), aFact('key.noted', 'b'), aFact('cron.skipped', 'c')]);
        await pause(own, turn % 2 === 0);
        await own.workers.beat({ tenant: '', id: 'w', activeJobs: 0, now: 0, told: aFact('worker.started', 'w') });
      }
      return fire(own, aJob());
    };
    const answers = await Promise.all(workers.map(act));
    expect(answers.map(({ status }) => status).sort()).toEqual(['fired', 'lost', 'lost']);
    // A place in the log whose number got lost on its way is open until readers close it.
    const facts = (await settled(store, clock)).map(({ type }) => type);
    const told = (type: string) => facts.filter((one) => one === type).length;
    expect([told('key.noted'), told('cron.skipped'), told('worker.started')]).toEqual([24, 12, 1]);
    expect([told('cron.triggered'), told('job.enqueued')]).toEqual([1, 1]);
    // Every change of the queue was told: they take turns.
    const ofQueue = facts.filter((type) => type.startsWith('queue.'));
    expect(ofQueue).toEqual(ofQueue.map((_, index) => (index % 2 === 0 ? 'queue.paused' : 'queue.resumed')));
    expect(await isPaused(store)).toContainEqual(['q', ofQueue.length % 2 === 1]);
  });

  it.each<[string, (store: Store, job: NewJob) => Promise<unknown>, Told]>([
    ['the change of a queue', (store) => pause(store), aFact('queue.keep_changed', 'q')],
    ['the tick of a cron', fire, aFact('cron.disabled', 'c')],
    ['the move of a workflow', move, aFact('workflow.cancelled', 'flow')],
  ])('%s whose number is taken while it is on its way takes the next one', async (_, act, other) => {
    const { store, table } = await open();
    await store.crons.put(aCron({ name: 'c' }));
    await store.insert([{ jobs: [starting(aJob(), 'flow')], workflow: { create: aWorkflow() } }]);
    const before = await store.events.end();
    const proxy = await FaultyProxy.start(local.endpoint());
    onTestFinished(() => proxy.close());
    const client = localClient(proxy.endpoint, local.accessKey());
    onTestFinished(() => client.destroy());
    const late = await local.open({ table, client });
    const holding = proxy.hold('request', 'TransactWriteItems');
    const acting = act(late.store, aJob());
    const letGo = await answered(holding, HANGS_MS);
    await store.events.tell([other]);
    letGo();
    await answered(acting, HANGS_MS);
    await checkLog(store);
    const { events } = await store.events.read({ filter: { tenant: '*' }, after: before, limit: 10 });
    const own = events.filter(({ jobId }) => jobId === undefined);
    expect(own.map(({ type }) => type)).toEqual([other.type, expect.not.stringMatching(other.type)]);
    expect(own[1]!.sequence).toBe(own[0]!.sequence + 1);
    // A job that comes with it is there, and told once.
    const jobs = events.filter(({ jobId }) => jobId !== undefined);
    expect(jobs.map(({ type }) => type)).toEqual(other.subject === 'q' ? [] : ['job.enqueued']);
    expect(await store.get(jobs.map(({ jobId }) => ({ tenant: '', id: jobId! })))).not.toContain(null);
  });

  it('a staged group tells once that its workflow has begun, also in a queue that keeps nothing', async () => {
    const { store, clock } = await open({}, { largestTransaction: 12 });
    await store.queues.setKeep('', 'quiet', 'none');
    for (const queue of ['default', 'quiet']) {
      const workflow = aWorkflow({ id: queue, total: 15 });
      const [first, ...others] = someJobs(15, { queue });
      const group = { jobs: [starting(first!, queue), ...others], workflow: { create: workflow } };
      expect(await store.insert([group])).toMatchObject([{ status: 'inserted' }]);
      expect(await store.insert([group])).toMatchObject([{ status: 'exists' }]);
    }
    expect(factsIn(await settled(store, clock))).toEqual(['workflow.started 1', 'workflow.started 1']);
  });

  it('many facts are told in the order given', async () => {
    const { store } = await open();
    const facts = Array.from({ length: 60 }, (_, index) => aFact('key.noted', index % 3 === 0 ? 'a' : `i-${index}`));
    await store.events.tell(facts);
    const events = await checkLog(store);
    expect(events.map(({ subject }) => subject)).toEqual(facts.map(({ subject }) => subject));
  });

  it('A22: counts go by TTL, long after the last event that they have counted; not those of a workflow that goes on', async () => {
    const { store, stored } = await open();
    const kinds = ['workflow.failed', 'worker.started', 'queue.paused', 'cron.registered', 'key.made'] as const;
    await store.events.tell(kinds.map((type) => aFact(type, 's')));
    const isPassing = async (kind: string) => 'x' in (await stored(kind, 's'))!;
    const found = await Promise.all(['workflow', 'worker', 'queue', 'cron', 'key'].map(isPassing));
    expect(found).toEqual([true, true, true, true, true]);
    await store.events.tell([aFact('workflow.resumed', 's')]);
    expect(await isPassing('workflow')).toBe(false);
  });
});
