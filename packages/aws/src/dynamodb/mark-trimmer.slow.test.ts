import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { isJobEvent, type Job, type LoggedEvent, type Store } from '@waybill/core';
import { aJob, settleChange, someJobs, TestClock, versionChange } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { denied, refusing } from '../testing/denying.ts';
import { answered, FaultyProxy } from '../testing/faulty-proxy.ts';
import { localClient } from '../testing/local-dynamo.ts';
import { fromAttributes, type Key, toAttributes } from './items.ts';
import { confirmSk, jobKey, progressKey, subjectKey } from './keys.ts';
import { marksOf } from './marks.ts';
import { ORPHANED_AFTER_MS } from './orphan-watch.ts';
import { ROW_MARKS } from './row-writes.ts';
import { SUBJECT_MARKS } from './subjects.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';
import { checkLog } from './testing/crash.ts';
import { aFact, factsIn } from './testing/facts.ts';
import { FaultyClient } from './testing/faulty-client.ts';

/** Tells a hang from an answer. */
const HANGS_MS = 30_000;
/** The most that an item has when all its segments are confirmed: it is looked through at every eighth mark. */
const BOUND = ROW_MARKS.most + 8;
const ID = aJob().job.id;
const FACT = aFact('key.noted', 'i');
const SUBJECT = { tenant: '', kind: 'key', subject: 'i' };
/** In the request that takes marks out. */
const TRIM = 'REMOVE #ev[0]';

type Clocked = { store: Store; clock: TestClock };

const held = async ({ store }: Clocked): Promise<Job> => (await store.get([{ tenant: '', id: ID }]))[0]!;
const insert = ({ store }: Clocked, id = ID) => store.insert([{ jobs: [aJob({ id })] }]);

const claim = async ({ store, clock }: Clocked) => {
  const lease = { claimId: crypto.randomUUID(), workerId: 'w', leaseMs: 600_000 };
  return (await store.claim([{ tenant: '', queues: ['default'], limit: 10, ...lease, now: clock.now() }]))[0]!;
};

/** Each of them is told, and leaves a mark. */
async function beat({ store, clock }: Clocked, times: number, ids = [ID]): Promise<void> {
  for (let nth = 0; nth < times; nth++) {
    await clock.advance(1);
    const request = { tenant: '', by: 'anyone', leaseMs: 600_000, now: clock.now(), isTold: true } as const;
    const answers = await store.extend(ids.map((id) => ({ ...request, id })));
    expect(answers).toMatchObject(ids.map(() => ({ status: 'extended' })));
  }
}

/** The run ends, the job comes back, and another run begins: three changes, two of them with events. */
async function cycle(one: Clocked): Promise<void> {
  const { store, clock } = one;
  const until = clock.now() + 1;
  await store.apply([settleChange(await held(one), { kind: 'snoozed', until }, clock.now())]);
  await clock.advance(1);
  await store.apply([versionChange(await held(one), { do: 'tick' }, clock.now())!]);
  expect(await claim(one)).toHaveLength(1);
}

async function report(one: Clocked, number: number): Promise<void> {
  const { run, claimId } = await held(one);
  const request = { tenant: '', id: ID, by: { run, claimId: claimId! }, report: { number, fraction: number / 100 } };
  const answers = await one.store.reports.add([{ ...request, now: one.clock.now() }]);
  expect(answers).toMatchObject([{ status: 'noted', repeated: false }]);
}

interface Scene {
  prepare(one: Clocked): Promise<unknown>;
  /** What the writer does that is cut off before it has confirmed this position. */
  act(one: Clocked): Promise<unknown>;
  position: number;
  /** What others do to the same item before a reader comes. */
  change(one: Clocked): Promise<unknown>;
  check(events: readonly LoggedEvent[]): void;
}

const numbersFrom = (events: readonly LoggedEvent[], source: string): number[] =>
  events.filter((event) => isJobEvent(event) && event.source === source).map(({ sequence }) => sequence);
const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

const SCENES: Record<string, Scene> = {
  'the claim of a row that heartbeats and claims change': {
    prepare: insert,
    act: claim,
    position: 2,
    change: async (one) => {
      await beat(one, ROW_MARKS.most + 1);
      for (let nth = 0; nth < 4; nth++) await cycle(one);
    },
    check: (events) => {
      expect(events.filter(({ type }) => type === 'job.heartbeat')).toHaveLength(ROW_MARKS.most + 1);
      expect(numbersFrom(events, 'server')).toEqual(upTo(2 + 3 * 4));
    },
  },
  'a fact about a subject that others tell of': {
    prepare: async () => {},
    act: ({ store }) => store.events.tell([FACT]),
    position: 1,
    change: async ({ store }) => {
      for (let nth = 0; nth <= SUBJECT_MARKS.most; nth += 13) await store.events.tell(Array(13).fill(FACT));
    },
    check: (events) => expect(factsIn(events)).toEqual(upTo(66).map((number) => `key.noted ${number}`)),
  },
  'a report that others follow': {
    prepare: async (one) => [await insert(one), await claim(one)],
    act: (one) => report(one, 1),
    position: 3,
    change: (one) => report(one, 2),
    check: (events) => expect(numbersFrom(events, 'worker')).toEqual([1, 2]),
  },
};

describe.skipIf(!canRun)('marks of the log in an item that changes often (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  async function open() {
    const [table, clock] = [local.newTable(), new TestClock()];
    const client = new FaultyClient(local.client());
    const sound = await local.open({ table, clock, client });
    onTestFinished(sound.close);
    const another = () => local.open({ table, clock });
    /** A process whose requests go through a proxy. */
    const behindProxy = async () => {
      const proxy = await FaultyProxy.start(local.endpoint());
      const ownClient = localClient(proxy.endpoint, local.accessKey());
      onTestFinished(() => ownClient.destroy());
      return { proxy, one: await local.open({ table, clock, client: ownClient }) };
    };
    /** A process whose writes with this text are refused. */
    const denying = (text: string) => {
      const refuse = (_: string, { UpdateExpression = '' }: Record<string, unknown>) =>
        String(UpdateExpression).includes(text) ? denied('dynamodb:UpdateItem', 'the-table') : undefined;
      return local.open({ table, clock, client: refusing(local.client(), refuse) });
    };
    const marksAt = async (key: Key) => {
      const input = { TableName: table, Key: toAttributes(key), ConsistentRead: true };
      return marksOf(fromAttributes((await local.client().send(new GetItemCommand(input))).Item!));
    };
    const marks = (id = ID) => marksAt(jobKey('', id));
    return { sound, client, clock, another, behindProxy, denying, marksAt, marks };
  }

  /** The log, when a reader has settled what nobody has confirmed. */
  async function readLate({ store, clock }: Clocked): Promise<LoggedEvent[]> {
    await store.events.read({ filter: { tenant: '*' }, limit: 1000 });
    await clock.advance(ORPHANED_AFTER_MS);
    return checkLog(store);
  }

  // fault: a writer is cut off behind its row, which then changes often before anybody reads the log
  it.each(Object.entries(SCENES))('guarantee 4: %s is told, however late a reader comes', async (_, scene) => {
    const { sound, another, behindProxy } = await open();
    await scene.prepare(sound);
    const { proxy, one } = await behindProxy();
    const holding = proxy.hold('request', `"${confirmSk(scene.position)}"`);
    const acting = scene.act(one).catch(() => 'cut off');
    await answered(holding, HANGS_MS);
    await proxy.close();
    await scene.change(sound);
    scene.check(await readLate(await another()));
    expect(await answered(acting, HANGS_MS)).toBe('cut off');
  });

  // fault: a writer is cut off behind its row, and nobody reads the log
  it('guarantee 4: a mark in the way for a minute is settled as a reader would, and its event is told', async () => {
    const { sound, clock, behindProxy, marks, another } = await open();
    await insert(sound);
    const { proxy, one } = await behindProxy();
    const holding = proxy.hold('request', `"${confirmSk(2)}"`);
    const acting = claim(one).catch(() => 'cut off');
    await answered(holding, HANGS_MS);
    await proxy.close();
    const [, open2] = await marks();
    const next = await another();
    await beat(next, BOUND);
    await next.store.close();
    expect(await marks()).toContain(open2);
    const last = await another();
    await beat(last, 8);
    await clock.advance(ORPHANED_AFTER_MS * 10);
    expect(await last.store.confirmedEvents(2)).toBeNull();
    await beat(last, BOUND);
    await last.store.close();
    expect(await marks()).not.toContain(open2);
    expect(await sound.store.confirmedEvents(2)).toMatchObject([{ type: 'job.started' }]);
    await checkLog(sound.store);
    expect(await answered(acting, HANGS_MS)).toBe('cut off');
  });

  it('a row does not grow in 500 heartbeats, and none of them is lost', { timeout: 120_000 }, async () => {
    const { sound, another, marks } = await open();
    await insert(sound);
    await claim(sound);
    const next = await another();
    await beat(next, 500);
    await next.store.close();
    expect((await marks()).length).toBeLessThanOrEqual(2 * BOUND);
    const events = await checkLog(sound.store);
    expect(events.filter(({ type }) => type === 'job.heartbeat')).toHaveLength(500);
  });

  it('neither do the reports of a job and the count of a subject', async () => {
    const { sound, another, marksAt } = await open();
    await insert(sound);
    await claim(sound);
    const next = await another();
    for (let number = 1; number <= 2 * BOUND; number++) await report(next, number);
    for (let nth = 0; nth < 8; nth++) await next.store.events.tell(Array(25).fill(FACT));
    await next.store.close();
    // Much was taken out, also if that took as long as all the calls.
    expect((await marksAt(progressKey('', ID))).length).toBeLessThanOrEqual(BOUND + ROW_MARKS.newest);
    expect((await marksAt(subjectKey(SUBJECT))).length).toBeLessThanOrEqual(8 * 25 - SUBJECT_MARKS.newest);
    await checkLog(sound.store);
  });

  it('marks that come while others are taken out stay, and the calls that bring them do not wait', async () => {
    const { sound, behindProxy, marks } = await open();
    await insert(sound);
    await claim(sound);
    const { proxy, one } = await behindProxy();
    onTestFinished(() => proxy.close());
    const holding = proxy.hold('request', TRIM);
    await beat(one, BOUND - 2);
    const letGo = await answered(holding, HANGS_MS);
    const before = await marks();
    expect(before).toHaveLength(BOUND);
    await beat(sound, 3);
    await beat(one, 2);
    const after = await marks();
    expect(after).toHaveLength(BOUND + 5);
    letGo();
    await one.store.close();
    expect(await marks()).toEqual(after.slice(-ROW_MARKS.newest - 5));
    await checkLog(sound.store);
  });

  // fault: the request that takes marks out of a row is held up until another process has done it
  it('guarantee 4: two processes that look through one row at once take out no mark that is needed', async () => {
    const { sound, another, behindProxy, marks } = await open();
    await insert(sound);
    await claim(sound);
    const { proxy, one } = await behindProxy();
    onTestFinished(() => proxy.close());
    const holding = proxy.hold('request', TRIM);
    await beat(one, BOUND - 2);
    const letGo = await answered(holding, HANGS_MS);
    const rival = await another();
    await beat(rival, 8);
    await rival.store.close();
    const trimmed = await marks();
    expect(trimmed).toHaveLength(ROW_MARKS.newest);
    letGo();
    await one.store.close();
    expect(await marks()).toEqual(trimmed);
    await checkLog(sound.store);
  });

  it('four rows at most are looked through at once, and the others after a later change', async () => {
    const { sound, behindProxy, marks } = await open();
    const ids = someJobs(6).map(({ job }) => job.id);
    for (const id of ids) await insert(sound, id);
    await claim(sound);
    const { proxy, one } = await behindProxy();
    onTestFinished(() => proxy.close());
    const holding = ids.slice(2).map(() => proxy.hold('request', TRIM));
    await beat(one, BOUND - 2, ids);
    const letGo = await answered(Promise.all(holding), HANGS_MS);
    const lengths = async () => (await Promise.all(ids.map(marks))).map(({ length }) => length).sort((a, b) => a - b);
    expect(await lengths()).toEqual(Array(6).fill(BOUND));
    for (const go of letGo) go();
    await one.store.close();
    const { newest } = ROW_MARKS;
    expect(await lengths()).toEqual([newest, newest, newest, newest, BOUND, BOUND]);
    await beat(sound, 8, ids);
    await sound.store.close();
    expect(await lengths()).toEqual([newest, newest, ...Array(4).fill(newest + 8)]);
  });

  // fault: DynamoDB refuses every request that takes marks out
  it('guarantee 4: a row whose marks cannot be taken out goes on, and loses no event', async () => {
    const { sound, denying, marks } = await open();
    await insert(sound);
    await claim(sound);
    const one = await denying(TRIM);
    await beat(one, 2 * BOUND);
    await one.store.close();
    expect(await marks()).toHaveLength(2 * BOUND + 2);
    await checkLog(sound.store);
  });

  it('a row with few changes costs what it did: it is not looked through', async () => {
    const { sound, client } = await open();
    await insert(sound);
    await claim(sound);
    const requestsOf = async (work: () => Promise<unknown>) => {
      const before = client.requests.length;
      await work();
      return client.requests.slice(before);
    };
    const first = await requestsOf(() => beat(sound, 1));
    const all = await requestsOf(() => beat(sound, ROW_MARKS.most - 3));
    expect(all).toEqual(
      Array(ROW_MARKS.most - 3)
        .fill(first)
        .flat(),
    );
  });
});
