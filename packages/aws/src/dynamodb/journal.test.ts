import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { BEFORE_ALL, engine, type Job, silentLogger } from '@waybill/core';
import { settleChange, type TestClock, versionChange } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { refusing } from '../testing/denying.ts';
import { FaultyProxy } from '../testing/faulty-proxy.ts';
import { localClient } from '../testing/local-dynamo.ts';
import { type Refusal, type ThrottlingFront, throttlingFront } from '../testing/throttling-front.ts';
import { batchKeyOf, LARGEST_BODY } from './journal-items.ts';
import type { DynamoStore } from './store.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';
import { FaultyClient } from './testing/faulty-client.ts';
import { batchesOf, say, started, textsOf } from './testing/journal.ts';

const COMPLETED = { kind: 'completed', result: null } as const;
const RETENTION = { finishedMs: 20_000, deadMs: 100_000, eventsMs: 30_000, journalMs: 10_000 };

describe.skipIf(!canRun)('journals on DynamoDB (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  async function open(options: Parameters<typeof local.open>[0] = {}) {
    const table = local.newTable();
    const opened = await local.open({ table, ...options });
    onTestFinished(opened.close);
    /** Another process on the same table. */
    const another = async (more: Parameters<typeof local.open>[0] = {}): Promise<DynamoStore> => {
      const { store } = await local.open({ table, clock: opened.clock, ...options, ...more });
      onTestFinished(() => store.close());
      return store;
    };
    const expiryOf = async ({ tenant, id, run }: Job, after: number): Promise<number | null> => {
      const { pk, sk } = batchKeyOf(tenant, id, run, after);
      const get = new GetItemCommand({ TableName: table, Key: { pk: { S: pk }, sk: { S: sk } } });
      const { Item } = await local.client().send(get);
      if (!Item) throw new Error(`There is no batch behind ${after}.`);
      return Item['x']?.N === undefined ? null : Number(Item['x'].N) * 1000;
    };
    return { ...opened, another, expiryOf };
  }

  const settle = (store: DynamoStore, clock: TestClock, job: Job) =>
    store.apply([settleChange(job, COMPLETED, clock.now())]);

  // fault: eight processes append to one run at the same moment
  it('guarantee 10: racing senders never break the chain', async () => {
    const { store, clock, another } = await open();
    const job = await started(store, clock);
    const stores = await Promise.all(Array.from({ length: 8 }, () => another()));
    const tally = { stored: 0, behind: 0 };
    await Promise.all(
      stores.map(async (own, sender) => {
        for (let head = 0; head < 24; ) {
          const last = head + 1 + (sender % 3);
          const answer = await say(own, job, [head + 1, last], {
            body: Buffer.from(`${sender}: ${head + 1}..${last}`),
          });
          if (answer.status !== 'stored' && answer.status !== 'behind') throw new Error(`It is ${answer.status}.`);
          tally[answer.status] += 1;
          head = answer.status === 'stored' ? last : answer.head;
        }
      }),
    );
    const batches = await batchesOf(store, job);
    expect(batches).toHaveLength(tally.stored);
    expect(batches.map(({ after }) => after)).toEqual([BEFORE_ALL, ...batches.slice(0, -1).map(({ last }) => last)]);
    for (const { first, last, body } of batches) expect(Buffer.from(body).toString()).toMatch(`: ${first}..${last}`);
    expect(tally.behind, 'they were rivals').toBeGreaterThan(0);
  });

  // fault: another process has written since this one last read
  it('guarantee 10: what a process remembers of a journal refuses nothing', async () => {
    const { store, clock, another } = await open();
    const other = await another();
    const job = await started(store, clock);
    expect(await say(store, job, [1, 1])).toMatchObject({ status: 'stored', weight: 10 });
    expect(await say(other, job, [2, 5])).toMatchObject({ status: 'stored', weight: 20 });
    expect(await say(store, job, [2, 5])).toEqual({ status: 'behind', run: 1, head: 5 });
    expect(await say(other, job, [6, 6])).toMatchObject({ status: 'stored', weight: 30 });
    expect(await say(store, job, [7, 7])).toMatchObject({ status: 'stored', weight: 40 });
    await settle(other, clock, job);
    expect(await say(store, job, [7, 7])).toEqual({ status: 'lost' });
    expect(await textsOf(store, job)).toEqual(['1..1', '2..5', '6..6', '7..7']);
  });

  // fault: answers of DynamoDB are lost after the write
  it('guarantee 10: a batch whose answer was lost is stored once, and told as stored', async () => {
    const client = new FaultyClient(local.client());
    const { store, clock } = await open({ client });
    const job = await started(store, clock);
    client.faults = { loseEvery: 2 };
    for (let n = 1; n <= 6; n++) {
      expect(await say(store, job, [n, n])).toEqual({ status: 'stored', run: 1, weight: 10 * n });
    }
    client.faults = {};
    expect(await textsOf(store, job)).toEqual([1, 2, 3, 4, 5, 6].map((n) => `${n}..${n}`));
  });

  // fault: the write of an append arrives after the end of its run
  it('guarantee 3: an append that arrives after the end of its run is lost', async () => {
    const proxy = await FaultyProxy.start(local.endpoint());
    onTestFinished(() => proxy.close());
    const client = localClient(proxy.endpoint, local.accessKey());
    onTestFinished(() => client.destroy());
    const { store, clock, another } = await open();
    const paused = await another({ client });
    const job = await started(store, clock);
    await say(paused, job, [1, 1]);
    const held = proxy.hold('request', 'TransactWriteItems');
    const late = say(paused, job, [2, 2]);
    const letGo = await held;
    await settle(store, clock, job);
    const atTheEnd = await textsOf(store, job);
    letGo();
    expect(await late).toEqual({ status: 'lost' });
    expect([atTheEnd, await textsOf(store, job)]).toEqual([['1..1'], ['1..1']]);
  });

  it('each batch carries when it goes, and is hidden from then on, but for the newest of an active run', async () => {
    const { store, clock, expiryOf } = await open({ retention: RETENTION });
    const job = await started(store, clock);
    const at = clock.now();
    await say(store, job, [1, 1]);
    await clock.advance(4_000);
    await say(store, job, [2, 2]);
    const expected = [at, at + 4_000].map((moment) => Math.ceil((moment + RETENTION.journalMs) / 1000) * 1000);
    expect([await expiryOf(job, BEFORE_ALL), await expiryOf(job, 1)]).toEqual(expected);
    await clock.advance(RETENTION.journalMs - 4_000);
    expect(await textsOf(store, job)).toEqual(['2..2']);
    await clock.advance(RETENTION.journalMs);
    expect(await textsOf(store, job)).toEqual(['2..2']);
    expect(await say(store, job, [2, 2])).toEqual({ status: 'behind', run: 1, head: 2 });
    expect(await say(store, job, [3, 3])).toMatchObject({ status: 'stored', weight: 30 });
    await settle(store, clock, job);
    expect(await textsOf(store, job)).toEqual(['3..3']);
    await clock.advance(RETENTION.journalMs);
    expect(await textsOf(store, job)).toEqual([]);
    expect(await store.get([job])).toMatchObject([{ state: 'completed' }]);
  });

  test.each([0, Number.POSITIVE_INFINITY])(
    'kept for %d ms, a journal goes with its job and not before',
    async (journalMs) => {
      const { store, clock, expiryOf } = await open({ retention: { ...RETENTION, journalMs } });
      const job = await started(store, clock);
      await say(store, job, [1, 1]);
      expect(await expiryOf(job, BEFORE_ALL)).toBeNull();
      await clock.advance(10 * RETENTION.deadMs);
      expect(await textsOf(store, job)).toEqual(['1..1']);
      await settle(store, clock, job);
      const end = Math.ceil((clock.now() + RETENTION.finishedMs) / 1000) * 1000;
      expect(await expiryOf(job, BEFORE_ALL)).toBe(end);
      const [ended] = await store.get([job]);
      await store.apply([versionChange(ended!, { do: 'replay' }, clock.now())!]);
      expect(await expiryOf(job, BEFORE_ALL)).toBeNull();
      await clock.advance(10 * RETENTION.deadMs);
      expect(await textsOf(store, job)).toEqual(['1..1']);
    },
  );

  // fault: DynamoDB has not removed the batches of an expired job when its id is used again
  // A follower that has seen the end of a job reads its journal once more, and must get all of it.
  it('trap: a journal is read consistently, so that no link of the chain is missing', async () => {
    const { store, clock, another } = await open();
    const job = await started(store, clock);
    for (const sequence of [1, 2, 3]) await say(store, job, [sequence, sequence]);
    const reads: { name: string; isConsistent: boolean }[] = [];
    const client = local.client();
    const send = (command: { constructor: { name: string }; input: Record<string, unknown> }, ...rest: unknown[]) => {
      const { name } = command.constructor;
      const { ConsistentRead, RequestItems } = command.input as Record<string, never>;
      const tables = Object.values((RequestItems ?? {}) as Record<string, { ConsistentRead?: boolean }>);
      const isConsistent = tables.length > 0 ? tables.every((one) => one.ConsistentRead) : ConsistentRead === true;
      if (/^(GetItem|BatchGetItem|Query|Scan)Command$/.test(name)) reads.push({ name, isConsistent });
      return (client.send as (...args: unknown[]) => unknown)(command, ...rest);
    };
    const reader = await another({ client: { ...client, send } as never });
    reads.length = 0;
    expect(await textsOf(reader, job)).toEqual(['1..1', '2..2', '3..3']);
    expect(reads.map(({ name }) => name)).toContain('QueryCommand');
    expect(reads.filter(({ isConsistent }) => !isConsistent)).toEqual([]);
  });

  it('a job that has the id of an expired one begins a journal of its own', async () => {
    const { store, clock } = await open({ retention: { ...RETENTION, journalMs: 1_000_000 } });
    const first = await started(store, clock);
    for (const n of [1, 2, 3]) await say(store, first, [n, n]);
    await settle(store, clock, first);
    await clock.advance(RETENTION.finishedMs);
    expect(await textsOf(store, first)).toEqual([]);
    const second = await started(store, clock, { id: first.id });
    expect(second.run).toBe(1);
    expect(await textsOf(store, second)).toEqual([]);
    expect(await say(store, second, [1, 9])).toEqual({ status: 'stored', run: 1, weight: 10 });
    expect(await textsOf(store, second)).toEqual(['1..9']);
    const { tenant, id } = second;
    const from = (sequence: number) =>
      store.journal.read({ tenant, id, after: { run: 1, sequence }, limit: 10, maxBytes: 1_000 });
    expect((await from(8)).batches).toMatchObject([{ first: 1, last: 9 }]);
    expect(await from(9)).toEqual({ batches: [], more: false });
  });

  it('keeps the largest body with many types, and says so when an item is too large', async () => {
    const { store, clock } = await open();
    const job = await started(store, clock);
    const types = Array.from({ length: 100 }, (_, n) => `type.${n}.${'x'.repeat(90)}`);
    const body = Buffer.alloc(LARGEST_BODY, 7);
    expect(await say(store, job, [1, 1], { body, types })).toMatchObject({ status: 'stored' });
    const tooLarge = say(store, job, [2, 2], { body: Buffer.alloc(410_000) });
    await expect(tooLarge).rejects.toMatchObject({ code: 'payload_too_large' });
    const [found, ...rest] = await batchesOf(store, job);
    expect([Buffer.from(found!.body).equals(body), found!.types, rest]).toEqual([true, types, []]);
    expect(await say(store, job, [2, 2])).toMatchObject({ status: 'stored', weight: 20 });
  });

  describe('under load', () => {
    const cancelled = (Code: string): Refusal => ({
      type: 'TransactionCanceledException',
      CancellationReasons: [{ Code }, { Code: 'None' }],
    });
    const REFUSALS: [string, Refusal][] = [
      ...['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'].map(
        (type): [string, Refusal] => [type, { type }],
      ),
      ['a throttled transaction', cancelled('ThrottlingError')],
      ['a transaction that conflicts', cancelled('TransactionConflict')],
    ];

    async function behind(
      callMs = 4_000,
    ): Promise<{ store: DynamoStore; job: Job; front: ThrottlingFront; clock: TestClock }> {
      const front = await throttlingFront(local.endpoint());
      onTestFinished(() => front.close());
      const client = localClient(front.endpoint, local.accessKey());
      onTestFinished(() => client.destroy());
      const { store, clock, another } = await open();
      const timeouts = { connectMs: 1_000, requestMs: 1_000, callMs };
      return { store: await another({ client, timeouts }), job: await started(store, clock), front, clock };
    }

    // fault: DynamoDB refuses requests because of the load
    test.each(REFUSALS)(
      '%s: a batch is stored once when it passes, and refused when it does not',
      async (_, refusal) => {
        const { store, job, front } = await behind();
        front.refusals = { TransactWriteItems: [refusal, refusal, refusal] };
        expect(await say(store, job, [1, 1])).toEqual({ status: 'stored', run: 1, weight: 10 });
        expect(front.asked.filter((name) => name === 'TransactWriteItems')).toHaveLength(4);
        front.refusals = { TransactWriteItems: () => refusal };
        front.asked.length = 0;
        const refused = say(store, job, [2, 2]);
        await expect(refused).rejects.toMatchObject({ code: 'resource_exhausted', retryable: true });
        expect(front.asked.length).toBeGreaterThan(1);
        expect(front.asked.length).toBeLessThan(20);
        front.refusals = {};
        expect(await textsOf(store, job)).toEqual(['1..1']);
        expect(await say(store, job, [2, 2])).toEqual({ status: 'stored', run: 1, weight: 20 });
        expect(await textsOf(store, job)).toEqual(['1..1', '2..2']);
      },
    );

    // fault: DynamoDB refuses the writes of one job because of the load on its partition
    it('a job whose partition is throttled keeps no other from being heard', async () => {
      const throttled = Object.assign(new Error('Injected.'), { name: 'ThrottlingException' });
      let hot = 'none yet';
      const client = refusing(local.client(), (name, input) =>
        name === 'TransactWriteItems' && JSON.stringify(input).includes(hot) ? throttled : undefined,
      );
      const timeouts = { connectMs: 1_000, requestMs: 1_000, callMs: 1_000 };
      const { store } = await open({ client, timeouts });
      const waybill = engine({ store, logger: silentLogger, maintenance: false });
      onTestFinished(() => waybill.close());
      for (let n = 0; n < 6; n++) await waybill.jobs.enqueue({ type: 'a.b', args: [] });
      const leases = await waybill.jobs.claim({ queues: ['default'], count: 6 });
      hot = leases[3]!.job.id;
      const entries = [{ sequence: 1, type: 'heartbeat' }];
      const appends = leases.map(({ job, token }) => waybill.jobs.append({ id: job.id, leaseToken: token, entries }));
      const ends = (await Promise.allSettled(appends)).map((end, index) => [
        leases[index]!.job.id === hot,
        end.status === 'fulfilled' ? end.value.stored : (end.reason as { code?: string }).code,
      ]);
      expect(ends).toHaveLength(6);
      for (const [isHot, end] of ends) expect(end).toBe(isHot ? 'resource_exhausted' : 1);
    });

    // fault: DynamoDB answers, and leaves the reads of a batch undone
    it('reads that are left undone are not repeated when the time of the call is over', async () => {
      const { store, job, front } = await behind(1_000);
      front.refusals = { BatchGetItem: () => ({ type: 'unprocessed' }) };
      await expect(say(store, job, [1, 1])).rejects.toMatchObject({ code: 'resource_exhausted', retryable: true });
      expect(front.asked.filter((name) => name === 'BatchGetItem')).toHaveLength(1);
    });

    // fault: reads are refused because of the load, and keys of a batch are left unprocessed
    it('a journal is read when DynamoDB answers again, and refused when it does not', async () => {
      const { store, job, front } = await behind();
      await say(store, job, [1, 1]);
      const [refusal, undone] = [{ type: 'ProvisionedThroughputExceededException' }, { type: 'unprocessed' }];
      front.refusals = { BatchGetItem: [refusal, undone, undone], Query: [refusal, refusal] };
      expect(await textsOf(store, job)).toEqual(['1..1']);
      for (const refusals of [{ Query: () => refusal }, { BatchGetItem: () => undone }]) {
        Object.assign(front, { refusals });
        await expect(textsOf(store, job)).rejects.toMatchObject({ code: 'resource_exhausted', retryable: true });
      }
    });
  });
});
