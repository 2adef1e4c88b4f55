import { type Job, type LogEvent, type Store, type SubjectEventType, silentLogger, type Told } from '@waybill/core';
import { aCron, aJob, aWorkflow, settleChange, someJobs } from '@waybill/core/testing';
import { expect, onTestFinished } from 'vitest';
import { postgresStore } from '../store.ts';
import { postgresUrl, tempSchema, tempStore } from './server.ts';
import { startSlowProxy, type Trouble } from './slow-proxy.ts';
import { add, claim } from './work.ts';

export const BOUNDS = { patienceMs: 2_000, queryTimeoutMs: 1_000, connectTimeoutMs: 2_000 };
/** The bounds together, and time for a machine that has other things to do. Without bounds a call takes for ever. */
export const AT_MOST_MS = 15_000;

const told = (type: SubjectEventType, subject: string): Told => ({ type, tenant: '', subject, at: 5, data: {} });

interface Scene {
  store: Store;
  /** Two that run, and one that waits. */
  jobs: Job[];
  now: number;
}

/** One call of every operation of the seam, by its name there. */
const CALLS: Record<string, (scene: Scene) => Promise<unknown>> = {
  insert: ({ store, now }) => store.insert([{ jobs: [aJob({ createdAt: now, limitKey: 'k' })] }]),
  get: ({ store, jobs }) => store.get(jobs),
  list: ({ store }) => store.list({ filter: { tenant: '' }, limit: 10 }),
  count: ({ store }) => store.count({ tenant: '' }, { atMost: 10 }),
  claim: ({ store }) => claim(store, 1),
  opensAt: ({ store, now }) => store.opensAt!({ tenant: '', queues: ['limited'], now }),
  insertAndClaim: ({ store, now }) =>
    store.insertAndClaim!(
      { jobs: [aJob({ createdAt: now, queue: 'handed' })] },
      { tenant: '', queues: ['handed'], limit: 1, claimId: 'handed', workerId: 'w', leaseMs: 30_000, now },
    ),
  claimById: ({ store, jobs, now }) =>
    store.claimById({ tenant: '', ids: [jobs[2]!.id], claimId: 'by-id', workerId: 'w', leaseMs: 30_000, now }),
  apply: ({ store, jobs, now }) => store.apply([settleChange(jobs[0]!, { kind: 'completed', result: null }, now)]),
  extend: ({ store, jobs, now }) => store.extend([{ ...jobs[1]!, by: 'anyone', leaseMs: null, now }]),
  useReminders: ({ store }) => store.useReminders!(60_000),
  due: ({ store, now }) => store.due({ now: now + 1, limit: 10 }),
  prune: ({ store }) =>
    store.prune({ finishedBefore: 1, deadBefore: 1, eventsBefore: 1, journalBefore: 1, unusedBefore: 1, limit: 10 }),
  ping: ({ store }) => store.ping(),
  'events.read': ({ store }) => store.events.read({ filter: { tenant: '' }, limit: 10 }),
  'events.end': ({ store }) => store.events.end(),
  'events.tell': ({ store }) => store.events.tell([told('key.noted', 'i')]),
  'reports.add': ({ store, jobs, now }) =>
    store.reports.add([{ ...jobs[1]!, by: 'anyone', report: { number: 1, fraction: 0.5 }, now }]),
  'reports.get': ({ store, jobs }) => store.reports.get(jobs),
  'queues.list': ({ store }) => store.queues.list(''),
  'queues.stats': ({ store }) => store.queues.stats('', 'default', { atMost: 10 }),
  'queues.setPaused': ({ store }) => store.queues.setPaused('', 'p', true, told('queue.paused', 'p')),
  'queues.setLimit': ({ store }) => store.queues.setLimit('', 'l', { concurrency: 1, rate: null }),
  'queues.setKeep': ({ store }) => store.queues.setKeep('', 'f', 'none'),
  'queues.setTenantLimit': ({ store }) => store.queues.setTenantLimit('t', 9),
  'queues.tenants': ({ store }) => store.queues.tenants({ after: null, limit: 10 }),
  'limits.set': ({ store, now }) => store.limits.set('', 'k', { concurrency: 2, rate: null }, now),
  'limits.get': ({ store }) => store.limits.get('', 'k'),
  'workflows.get': ({ store }) => store.workflows.get('', 'flow'),
  'workflows.list': ({ store }) => store.workflows.list({ tenant: '', limit: 10 }),
  'workflows.meet': ({ store, jobs }) => store.workflows.meet({ tenant: '', ids: [jobs[0]!.id] }),
  'workflows.waiting': ({ store, jobs }) => store.workflows.waiting({ tenant: '', ids: [jobs[0]!.id] }),
  'workflows.parents': ({ store, jobs }) => store.workflows.parents({ tenant: '', ids: [jobs[0]!.id] }),
  'workflows.hasUnfinished': ({ store }) => store.workflows.hasUnfinished('', 'flow'),
  'workflows.move': ({ store, now }) =>
    store.workflows.move({
      ...{ tenant: '', id: 'flow', from: 'running', to: 'completed', now },
      jobs: [aJob({ createdAt: now, queue: 'callback' })],
      told: told('workflow.completed', 'flow'),
    }),
  'workers.beat': ({ store, now }) =>
    store.workers.beat({ tenant: '', id: 'new', activeJobs: 0, now, told: told('worker.started', 'new') }),
  'workers.direct': ({ store }) => store.workers.direct('', 'w', 'quiet', told('worker.quiet', 'w')),
  'workers.list': ({ store }) => store.workers.list(''),
  'crons.put': ({ store }) => store.crons.put(aCron({ name: 'other' }), told('cron.registered', 'other')),
  'crons.get': ({ store }) => store.crons.get('', 'c'),
  'crons.list': ({ store }) => store.crons.list(''),
  'crons.remove': ({ store }) => store.crons.remove('', 'gone', told('cron.removed', 'gone')),
  'crons.enable': ({ store }) => {
    const request = { tenant: '', name: 'switched', expected: aCron().version, enabled: false, nextAt: null };
    return store.crons.enable(request, told('cron.disabled', 'switched'));
  },
  'crons.fire': async ({ store, now }) => {
    const cron = aCron({ name: 'c' });
    return store.crons.fire({
      ...{ tenant: '', name: 'c', expected: { version: cron.version, nextAt: cron.nextAt! }, nextAt: null },
      ...{ tick: cron.nextAt!, job: aJob({ createdAt: now, queue: 'ticks' }), told: told('cron.triggered', 'c') },
    });
  },
  'records.get': ({ store }) => store.records.get([{ tenant: '', kind: 'key', id: 'k' }]),
  'records.put': ({ store }) =>
    store.records.put([{ tenant: '', kind: 'key', id: 'k', value: {}, expected: 0, told: told('key.made', 'k') }]),
  'records.list': ({ store }) => store.records.list({ tenant: '', kind: 'key', limit: 10 }),
  'records.remove': ({ store }) =>
    store.records.remove({ tenant: '', kind: 'key', id: 'old' }, undefined, told('key.removed', 'old')),
  'locks.take': ({ store }) => store.locks.take({ name: 'l', owner: 'me', leaseMs: 10_000 }),
  'journal.append': ({ store, jobs, now }) => {
    const { tenant, id } = jobs[1]!;
    const batch = { first: 1, last: 2, firstAt: now, lastAt: now, types: ['output'], body: Buffer.from('body') };
    return store.journal!.append([{ tenant, id, by: 'anyone', batch, weight: 4, now }]);
  },
  'journal.read': ({ store, jobs }) => store.journal!.read({ ...jobs[1]!, run: 1, limit: 10, maxBytes: 1_000 }),
  'locks.release': ({ store }) => store.locks.release({ name: 'l', owner: 'me', fence: 1 }),
};

/** What is no call to the server, or is tried by itself. */
const OTHERS = new Set(['constructor', 'within', 'onWake', 'close', 'closeSoon', 'journal.onGrown']);
const GROUPS = [
  ...(['events', 'reports', 'queues', 'limits', 'workflows', 'workers', 'crons', 'records', 'locks'] as const),
  'journal',
] as const;

function operationsOf(store: Store): string[] {
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(store));
  const grouped = GROUPS.flatMap((group) => Object.keys(store[group]!).map((name) => `${group}.${name}`));
  return [...own, ...grouped].filter((name) => !OTHERS.has(name));
}

async function setTheScene(store: Store): Promise<Scene> {
  const now = store.clock.now();
  await add(store, 2);
  const jobs = await claim(store, 2);
  const [waiting] = await add(store, 1, { queue: 'waiting' });
  await store.insert([{ jobs: someJobs(1, { queue: 'flow' }), workflow: { create: aWorkflow({ id: 'flow' }) } }]);
  for (const name of ['c', 'gone', 'switched']) await store.crons.put(aCron({ name }));
  await store.records.put([{ tenant: '', kind: 'key', id: 'old', value: {}, expected: 0 }]);
  await store.workers.beat({ tenant: '', id: 'w', activeJobs: 0, now });
  return { store, jobs: [...jobs, waiting!], now };
}

/** No event twice, and none missing, of a job or of anything else. */
function expectNoGap(events: readonly LogEvent[]): void {
  const numbers = Map.groupBy(events, ({ source, jobId, subject }) => `${source} ${jobId ?? subject}`);
  for (const [of, some] of numbers) {
    expect(
      some.map(({ sequence }) => sequence),
      of,
    ).toEqual(some.map((_, n) => n + some[0]!.sequence));
  }
}

/** Behind such a network every call ends in time, and has one effect when it is made again. */
export async function tryEveryCall(trouble: Trouble, resetAfter = 0): Promise<void> {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const proxy = await startSlowProxy(url);
  const direct = await tempStore(postgresStore, { url, schema });
  const store = await postgresStore({ url: proxy.url, schema, logger: silentLogger, poolSize: 8, ...BOUNDS });
  onTestFinished(() => store.close());
  expect(Object.keys(CALLS).sort()).toEqual(operationsOf(store).sort());
  const scene = await setTheScene(store);

  proxy.trouble = trouble;
  proxy.resetAfter = resetAfter;
  const took = await Promise.all(
    Object.entries(CALLS).map(async ([name, call]) => {
      const begun = performance.now();
      const end = await call(scene).then(
        () => 'answered',
        (error: { code?: string }) => error.code ?? 'thrown',
      );
      return { name, end, ms: performance.now() - begun };
    }),
  );
  expect(took.filter(({ ms }) => ms > AT_MOST_MS)).toEqual([]);
  // A reset behind some bytes lets short answers through.
  if (resetAfter === 0) expect(took.filter(({ end }) => end === 'answered')).toEqual([]);
  // What the store tells is that the server is away, and never that its own state is broken.
  expect(new Set(took.map(({ end }) => end)).difference(new Set(['answered', 'unavailable', 'timeout']))).toEqual(
    new Set(),
  );

  proxy.trouble = 'none';
  const begun = performance.now();
  await store.get(scene.jobs);
  expect(performance.now() - begun).toBeLessThan(AT_MOST_MS / 2);
  // The calls that failed are made again; those that had their effect find it done.
  const again = await Promise.allSettled(Object.values(CALLS).map((call) => call(scene)));
  expect(again.filter(({ status }) => status === 'rejected')).toEqual([]);
  const { events } = await direct.events.read({ filter: { tenant: '*' }, limit: 1_000 });
  expectNoGap(events);
  const of = (type: string) => events.filter((event) => event.type === type).length;
  expect([of('queue.paused'), of('cron.triggered'), of('workflow.completed'), of('key.made')]).toEqual([1, 1, 1, 1]);
  expect((await direct.crons.get('', 'c'))?.runs).toBe(1);
  expect(await direct.count({ tenant: '', queues: ['ticks'] }, { atMost: 10 })).toBe(1);
  expect(await direct.count({ tenant: '', queues: ['callback'] }, { atMost: 10 })).toBe(1);
  const said = await direct.journal!.read({ tenant: '', id: scene.jobs[1]!.id, limit: 10, maxBytes: 1_000 });
  expect(said.batches).toMatchObject([{ run: 1, first: 1, last: 2 }]);
}
