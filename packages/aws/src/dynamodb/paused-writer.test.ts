import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isJobEvent, type LoggedEvent, type NewJob, type Store } from '@waybill/core';
import { aCron, aJob, aWorkflow, settleChange, someJobs, TEST_EPOCH, TestClock } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answered, FaultyProxy } from '../testing/faulty-proxy.ts';
import { localClient } from '../testing/local-dynamo.ts';
import { ORPHANED_AFTER_MS } from './orphan-watch.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';
import { checkLog } from './testing/crash.ts';
import { aFact, factsIn, starting } from './testing/facts.ts';

const PROCESS = fileURLToPath(new URL('./testing/writer-process.ts', import.meta.url));
/** Tells a hang from an answer. */
const HANGS_MS = 30_000;
const LEASE = { claimId: 'claim-1', workerId: 'w', leaseMs: 600_000 };

/** A reader that has read this far, and goes on from there. */
class Follower {
  readonly events: LoggedEvent[] = [];
  readonly #store: Store;
  #cursor: string | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  async read(): Promise<void> {
    for (let atEnd = false; !atEnd; ) {
      const after = this.#cursor === undefined ? {} : { after: this.#cursor };
      const page = await this.#store.events.read({ filter: { tenant: '*' }, limit: 100, ...after });
      this.events.push(...page.events);
      this.#cursor = page.cursor;
      atEnd = page.atEnd;
    }
  }

  /** Every event of these jobs and of their runs came once, in order and without a gap. */
  async check(ids: readonly string[]): Promise<void> {
    const keys = ids.map((id) => ({ tenant: '', id }));
    const [jobs, reports] = await Promise.all([this.#store.get(keys), this.#store.reports.get(keys)]);
    for (const [index, id] of ids.entries()) {
      const own = this.events.filter(isJobEvent).filter(({ jobId }) => jobId === id);
      const from = (source: string) => own.filter((event) => event.source === source).map(({ sequence }) => sequence);
      expect(from('server'), `events of job ${id}`).toEqual(upTo(jobs[index]!.version));
      expect(from('worker'), `reports of job ${id}`).toEqual(upTo(reports[index]?.sequence ?? 0));
    }
  }
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

interface Scene {
  /** In the request that is delayed. */
  text: string;
  act(store: Store, jobs: readonly NewJob[], clock: TestClock): Promise<unknown>;
  /** What is there before. */
  prepare?(store: Store, jobs: readonly NewJob[], clock: TestClock): Promise<unknown>;
  /** Whether the writer itself makes up for what readers have called lost. */
  repeats?: boolean;
  /** What the log tells of subjects in the end: the act is done twice. */
  tells?: string[];
}

const insertAll = (store: Store, jobs: readonly NewJob[]) => store.insert(jobs.map((job) => ({ jobs: [job] })));
const claimAll = (store: Store, _: readonly NewJob[], clock: TestClock) =>
  store.claim([{ tenant: '', queues: ['default'], limit: 10, ...LEASE, now: clock.now() }]);
const held = (store: Store, jobs: readonly NewJob[]) => store.get(jobs.map(({ job }) => job));

const withStart = ([first, ...others]: readonly NewJob[]): NewJob[] => [starting(first!, 'flow'), ...others];

const SCENES: Record<string, Scene> = {
  'the segment of a call': { text: '"b":{"S":"[[', act: insertAll, repeats: true },
  'the row of a new job': { text: '"pk":{"S":"J#', act: insertAll },
  'the transaction of a group': {
    text: 'TransactWriteItems',
    act: (store, jobs) => store.insert([{ jobs: [...jobs], workflow: { create: aWorkflow({ total: 3 }) } }]),
  },
  'the commit of a staged group': {
    text: '"S":"B#',
    act: (store, jobs) =>
      store.insert([{ jobs: [...withStart(jobs), ...someJobs(12)], workflow: { create: aWorkflow({ total: 15 }) } }]),
    tells: ['workflow.started 1'],
  },
  'the row of a claim': { text: '"#ck"', prepare: insertAll, act: claimAll, repeats: true },
  'the row of a settle': {
    text: '"#ck"',
    prepare: async (store, jobs, clock) => [await insertAll(store, jobs), await claimAll(store, jobs, clock)],
    act: async (store, jobs) => {
      const outcome = { kind: 'completed', result: null } as const;
      const running = (await held(store, jobs)).filter((job) => job!.state === 'active');
      return store.apply(running.map((job) => settleChange(job!, outcome, TEST_EPOCH + 5)));
    },
  },
  'a report': {
    text: '"#ck"',
    prepare: async (store, jobs, clock) => [await insertAll(store, jobs), await claimAll(store, jobs, clock)],
    act: async (store, jobs) => {
      const [job] = await held(store, jobs);
      const { tenant, id, run } = job!;
      const by = { run, claimId: LEASE.claimId };
      const report = { number: 1, fraction: 0.5 };
      return store.reports.add([{ tenant, id, by, report, now: TEST_EPOCH + 5 }]);
    },
    repeats: true,
  },
  'the change of a queue': {
    text: 'TransactWriteItems',
    prepare: insertAll,
    act: (store) => store.queues.setPaused('', 'default', true, aFact('queue.paused', 'default')),
    repeats: true,
    tells: ['queue.paused 1'],
  },
  'the change of a queue that something was told of': {
    text: 'TransactWriteItems',
    prepare: async (store, jobs) => [
      await insertAll(store, jobs),
      await store.queues.setPaused('', 'default', true, aFact('queue.paused', 'default')),
    ],
    act: (store) => store.queues.setPaused('', 'default', false, aFact('queue.resumed', 'default')),
    repeats: true,
    tells: ['queue.paused 1', 'queue.resumed 2'],
  },
  'a fact about no change': {
    text: '"#ev"',
    prepare: insertAll,
    act: (store) => store.events.tell([aFact('key.noted', 'i')]),
    repeats: true,
    tells: ['key.noted 1', 'key.noted 2'],
  },
  'the tick of a cron': {
    text: 'TransactWriteItems',
    prepare: async (store, jobs) => [await insertAll(store, jobs.slice(1)), await store.crons.put(aCron())],
    act: (store, [job]) => {
      const { name, version, nextAt } = aCron();
      const expected = { version, nextAt: nextAt! };
      const told = aFact('cron.triggered', name);
      return store.crons.fire({ tenant: '', name, expected, tick: nextAt!, nextAt: null, job: job!, told });
    },
    tells: ['cron.triggered 1'],
  },
  'the move of a workflow': {
    text: 'TransactWriteItems',
    prepare: (store, jobs) => store.insert([{ jobs: withStart(jobs), workflow: { create: aWorkflow({ total: 3 }) } }]),
    act: (store) => {
      const end = { tenant: '', id: 'flow', from: 'running', to: 'completed', now: TEST_EPOCH, jobs: [] } as const;
      return store.workflows.move({ ...end, told: aFact('workflow.completed', 'flow') });
    },
    tells: ['workflow.started 1', 'workflow.completed 2'],
  },
};

describe.skipIf(!canRun)('B2: a writer that readers have given up (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  /** A writer whose requests can be delayed, and a reader with a clock of its own. */
  async function open(readerClock = new TestClock()) {
    const table = local.newTable();
    const reader = await local.open({ table, clock: readerClock });
    onTestFinished(reader.close);
    const proxy = await FaultyProxy.start(local.endpoint());
    onTestFinished(() => proxy.close());
    const client = localClient(proxy.endpoint, local.accessKey());
    onTestFinished(() => client.destroy());
    const writer = await local.open({ table, client, clock: new TestClock(), largestTransaction: 12 });
    return { table, proxy, writer, readerClock, reader: reader.store, follower: new Follower(reader.store) };
  }

  // fault: a write is held up until readers have given it up
  it.each(Object.entries(SCENES))('guarantee 4: %s that arrives late loses no event', async (_, scene) => {
    const { proxy, writer, reader, readerClock, follower } = await open();
    const jobs = someJobs(3);
    const ids = jobs.map(({ job }) => job.id);
    await scene.prepare?.(writer.store, jobs, writer.clock);
    await follower.read();
    const holding = proxy.hold('request', scene.text);
    const acting = scene.act(writer.store, jobs, writer.clock).then(
      () => 'done',
      (error: { code?: string }) => error.code ?? String(error),
    );
    const letGo = await answered(holding, HANGS_MS);
    await follower.read();
    await readerClock.advance(ORPHANED_AFTER_MS);
    await follower.read();
    letGo();
    expect(await answered(acting, HANGS_MS)).toBe(scene.repeats ? 'done' : 'unavailable');
    await scene.act(writer.store, jobs, writer.clock);
    await follower.read();
    await readerClock.advance(ORPHANED_AFTER_MS);
    await follower.read();
    await follower.check(ids);
    expect(factsIn(follower.events)).toEqual(scene.tells ?? []);
    await checkLog(reader);
  });

  // fault: the process is stopped with SIGSTOP between two writes
  it('guarantee 4: a process that is stopped between the log and its row loses no event', async () => {
    // The process goes by the clock of this machine.
    const { table, proxy, reader, readerClock, follower } = await open(new TestClock(Date.now()));
    const ids = Array.from({ length: 5 }, () => aJob().job.id);
    const holding = proxy.hold('request', `J##${ids[2]}`);
    const env = { ...process.env, AWS_ACCESS_KEY_ID: local.accessKey(), AWS_SECRET_ACCESS_KEY: 'local' };
    const child = spawn(process.execPath, [PROCESS, proxy.endpoint, table, ...ids], { env, stdio: 'inherit' });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    const letGo = await answered(holding, HANGS_MS);
    child.kill('SIGSTOP');
    await follower.read();
    await readerClock.advance(ORPHANED_AFTER_MS);
    await follower.read();
    // The reader has decided: nothing happened at this position.
    expect(await reader.confirmedEvents(3)).toEqual([]);
    letGo();
    child.kill('SIGCONT');
    expect(await answered(exited, HANGS_MS)).toEqual([0, null]);
    await follower.read();
    await readerClock.advance(ORPHANED_AFTER_MS);
    await follower.read();
    await follower.check(ids);
    await checkLog(reader);
  });

  // fault: the reader’s clock is 65 s ahead, and a write is held up
  it('guarantee 4: a reader whose clock is 65 s ahead waits like any other', async () => {
    const { proxy, writer, reader, readerClock, follower } = await open(new TestClock(TEST_EPOCH + 65_000));
    const jobs = someJobs(3);
    const holding = proxy.hold('request', '"pk":{"S":"J#');
    const inserting = insertAll(writer.store, jobs);
    const letGo = await answered(holding, HANGS_MS);
    await follower.read();
    await readerClock.advance(ORPHANED_AFTER_MS - 1);
    await follower.read();
    letGo();
    expect(await answered(inserting, HANGS_MS)).toMatchObject(jobs.map(() => ({ status: 'inserted' })));
    await follower.read();
    await follower.check(jobs.map(({ job }) => job.id));
    await checkLog(reader);
  });
});
