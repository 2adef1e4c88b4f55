import { describe, expect, onTestFinished, test } from 'vitest';
import { engine } from '../engine.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { SYSTEM_TENANT } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { type Fault, faultyStore } from '../testing/faulty-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import type { Waybill } from '../waybill.ts';
import { LIMITS_CACHED_MS } from './limit-book.ts';

const JOB = { type: 'test.job', args: [] };
const T = { tenant: 't' };

interface Fleet {
  clock: TestClock;
  store: Store;
  /** One more server on the same store. */
  server(on?: Store): Waybill;
}

function fleet(): Fleet {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const open: Waybill[] = [];
  onTestFinished(async () => {
    for (const one of open) await one.close();
  });
  const server = (on: Store = store) => {
    const made = engine({ store: on, maintenance: false });
    open.push(made);
    return made;
  };
  return { clock, store, server };
}

const enqueue = (waybill: Waybill, count: number) => waybill.jobs.enqueueMany(Array(count).fill(JOB), T);

/** How many of these calls for one job each were not refused with the code. */
async function taken(waybill: Waybill, calls: number, code: string): Promise<number> {
  let count = 0;
  for (let call = 0; call < calls; call++) {
    try {
      await waybill.jobs.enqueue(JOB, T);
      count += 1;
    } catch (error) {
      expect(error).toMatchObject({ code });
    }
  }
  return count;
}

describe('tenants', () => {
  test('are listed with their limits, those without jobs too, page by page', async () => {
    const waybill = fleet().server();
    await waybill.jobs.enqueue(JOB);
    for (const tenant of ['c', 'a']) await waybill.jobs.enqueue(JOB, { tenant });
    await waybill.tenants.setLimits('b', { concurrency: 2 });
    const first = await waybill.tenants.list({ limit: 3 });
    expect(first.items.map(({ tenant }) => tenant)).toEqual(['', 'a', 'b']);
    expect(first.items[2]!.limits).toEqual({ waiting: null, enqueueRate: null, concurrency: 2 });
    const second = await waybill.tenants.list({ limit: 3, cursor: first.cursor! });
    expect(second).toEqual({
      items: [{ tenant: 'c', limits: { waiting: null, enqueueRate: null, concurrency: null } }],
    });
    await expect(waybill.tenants.list({ cursor: 'x' })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('tell what they have', async () => {
    const { server, clock } = fleet();
    const waybill = server();
    const began = clock.now();
    await enqueue(waybill, 3);
    await waybill.jobs.enqueue({ ...JOB, options: { queue: 'other', delay_until: '+PT1H' } }, T);
    await waybill.jobs.enqueue({ ...JOB, options: { queue: 'other', pending: true } }, T);
    await clock.advance(1_000);
    await waybill.jobs.claim({ ...T, queues: ['default'] });
    expect(await waybill.tenants.stats('t')).toMatchObject({
      ...{ tenant: 't', queues: 2, active: 1, waiting: 4, exact: true, oldestAt: began },
      jobs: { available: 2, pending: 1, scheduled: 1, active: 1, completed: 0 },
    });
    await expect(waybill.tenants.stats('nobody')).rejects.toMatchObject({ code: 'not_found' });
    await expect(waybill.tenants.get('nobody')).rejects.toMatchObject({ code: 'not_found' });
  });

  // fault: a server dies while it changes limits, under a clock that is a day ahead
  test('are not locked for longer than a lease by a server that died, whatever its clock was', async () => {
    const { store, clock, server } = fleet();
    const waybill = server();
    await store.locks.take({ name: 'tenant-limits t', owner: 'dead', leaseMs: 86_400_000 });
    const set = () => waybill.tenants.setLimits('t', { waiting: 7 });
    await expect(set()).rejects.toMatchObject({ code: 'conflict' });
    await clock.advance(29_999);
    await expect(set()).rejects.toMatchObject({ code: 'conflict' });
    await clock.advance(1);
    expect(await set()).toMatchObject({ limits: { waiting: 7 } });
    expect(await set()).toMatchObject({ limits: { waiting: 7 } });
  });

  test.each([
    [{ concurency: 1 }, "'limits.concurency' is not known here. Did you mean 'concurrency'?"],
    [{ concurrency: 0 }, "'limits.concurrency'"],
    [{ waiting: 1.5 }, "'limits.waiting'"],
    [{ enqueueRate: { limit: 5 } }, "'limits.enqueueRate.periodMs' is required."],
    [{ enqueueRate: { limit: 5, periodMs: 1 } }, "'limits.enqueueRate.periodMs'"],
    [{}, "'limits' must have at least one of"],
  ])('refuse the limits %j and keep what they had', async (limits, message) => {
    const waybill = fleet().server();
    await waybill.tenants.setLimits('t', { waiting: 7 });
    await expect(waybill.tenants.setLimits('t', limits as never)).rejects.toMatchObject({
      ...{ code: 'invalid_request', message: expect.stringContaining(message) },
    });
    expect((await waybill.tenants.get('t')).limits).toEqual({ waiting: 7, enqueueRate: null, concurrency: null });
    await expect(waybill.tenants.setLimits(SYSTEM_TENANT, { waiting: 7 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  test('keep the limits that a call does not name', async () => {
    const waybill = fleet().server();
    await waybill.tenants.setLimits('t', { waiting: 7, concurrency: 3 });
    await waybill.tenants.setLimits('t', { waiting: null, enqueueRate: { limit: 5, periodMs: 1_000 } });
    expect((await waybill.tenants.get('t')).limits).toEqual({
      ...{ waiting: null, enqueueRate: { limit: 5, periodMs: 1_000 }, concurrency: 3 },
    });
  });

  test('are gone from the list with their last limit, when they have nothing else', async () => {
    const waybill = fleet().server();
    await waybill.tenants.setLimits('t', { waiting: 7, concurrency: 2 });
    await waybill.tenants.setLimits('t', { waiting: null });
    expect((await waybill.tenants.list()).items).toHaveLength(1);
    await waybill.tenants.setLimits('t', { concurrency: null });
    expect(await waybill.tenants.list()).toEqual({ items: [] });
    expect(await waybill.tenants.setLimits('u', { concurrency: null })).toMatchObject({
      limits: { concurrency: null },
    });
    expect(await waybill.tenants.list()).toEqual({ items: [] });
  });

  test('have their waiting claims woken when a job of another queue has ended', async () => {
    const waybill = fleet().server();
    await waybill.tenants.setLimits('t', { concurrency: 1 });
    await enqueue(waybill, 1);
    const [held] = await waybill.jobs.claim({ ...T, queues: ['default'] });
    const { job } = await waybill.jobs.enqueue({ ...JOB, options: { queue: 'other' } }, T);
    const waiting = waybill.jobs.claim({ ...T, queues: ['other'], waitMs: 60_000 });
    // Nobody moves the clock, so that only the wake-up can end the wait.
    const outcome = { kind: 'completed', result: null } as const;
    await waybill.jobs.settle({ ...T, id: held!.job.id, leaseToken: held!.token, outcome });
    expect((await waiting).map((lease) => lease.job.id)).toEqual([job.id]);
  });

  test('run no more jobs at once than they may, by way of the port', async () => {
    const waybill = fleet().server();
    await waybill.tenants.setLimits('t', { concurrency: 2 });
    await enqueue(waybill, 5);
    expect(await waybill.jobs.claim({ ...T, queues: ['default'], count: 5 })).toHaveLength(2);
    await waybill.tenants.setLimits('t', { concurrency: null });
    expect(await waybill.jobs.claim({ ...T, queues: ['default'], count: 5 })).toHaveLength(3);
  });
});

describe('a limit of waiting jobs', () => {
  test('refuses what goes beyond it, with nothing stored, until jobs have started', async () => {
    const { server, clock } = fleet();
    const waybill = server();
    await waybill.tenants.setLimits('t', { waiting: 3 });
    await enqueue(waybill, 2);
    await expect(enqueue(waybill, 2)).rejects.toMatchObject({
      ...{ code: 'resource_exhausted', details: { tenant: 't', max: 3, retry_after_ms: 1_000 } },
    });
    expect((await waybill.tenants.stats('t')).waiting).toBe(2);
    expect(await taken(waybill, 3, 'resource_exhausted')).toBe(1);
    await waybill.jobs.claim({ ...T, queues: ['default'], count: 2 });
    await clock.advance(1_000);
    expect(await taken(waybill, 4, 'resource_exhausted')).toBe(2);
  });

  test('counts the nodes of workflows, and holds nobody else up', async () => {
    const waybill = fleet().server();
    await waybill.tenants.setLimits('t', { waiting: 2 });
    const chain = (count: number) => ({ type: 'chain', steps: Array(count).fill(JOB) });
    await expect(waybill.workflows.create(chain(3), T)).rejects.toMatchObject({ code: 'resource_exhausted' });
    expect((await waybill.workflows.list(T)).items).toEqual([]);
    await waybill.workflows.create(chain(2), T);
    await expect(waybill.jobs.enqueue(JOB, T)).rejects.toMatchObject({ code: 'resource_exhausted' });
    await waybill.jobs.enqueue(JOB);
    await waybill.jobs.enqueue(JOB, { tenant: 'u' });
  });

  // fault: eight servers enqueue at the same time
  test.each([10, 1_000])('of %i is exceeded by no more than what each server writes at one time', async (limit) => {
    const { server } = fleet();
    const servers = Array.from({ length: 8 }, () => server());
    await servers[0]!.tenants.setLimits('t', { waiting: limit });
    await Promise.all(servers.map((one) => taken(one, limit, 'resource_exhausted')));
    const { waiting } = await servers[0]!.tenants.stats('t');
    expect(waiting).toBeGreaterThanOrEqual(limit);
    expect(waiting).toBeLessThanOrEqual(limit + servers.length);
  });

  test('far from it the store is not asked for each call, and a full one not more often than once a second', async () => {
    const { server, store } = fleet();
    let counts = 0;
    const counting: Store = Object.create(store, {
      count: {
        value: (...given: Parameters<Store['count']>) => {
          counts += 1;
          return store.count(...given);
        },
      },
    });
    const waybill = server(counting);
    await waybill.tenants.setLimits('t', { waiting: 1_000 });
    expect(await taken(waybill, 62, 'resource_exhausted')).toBe(62);
    expect(counts).toBe(1);
    await enqueue(waybill, 938);
    counts = 0;
    expect(await taken(waybill, 50, 'resource_exhausted')).toBe(0);
    expect(counts).toBeLessThanOrEqual(1);
  });

  test('holds on a server that was there before it, within a few seconds', async () => {
    const { server, clock } = fleet();
    const [one, two] = [server(), server()];
    await enqueue(two, 1);
    await one.tenants.setLimits('t', { waiting: 1 });
    expect(await taken(two, 1, 'resource_exhausted')).toBe(1);
    await clock.advance(LIMITS_CACHED_MS);
    // This call has the limits read again, and does not wait for them.
    await taken(two, 1, 'resource_exhausted');
    await expect.poll(() => taken(two, 1, 'resource_exhausted')).toBe(0);
  });
});

// fault: the limits are read while they are changed
test('a limit that is set while the limits are read again holds at once', async () => {
  const { server, store, clock } = fleet();
  let answer = () => {};
  const slow: Store = Object.create(store, {
    records: {
      value: {
        ...store.records,
        list: async (query: Parameters<Store['records']['list']>[0]) => {
          const page = await store.records.list(query);
          await held;
          return page;
        },
      },
    },
  });
  let held = Promise.resolve();
  const waybill = server(slow);
  await enqueue(waybill, 1);
  held = new Promise((resolve) => {
    answer = resolve;
  });
  await clock.advance(LIMITS_CACHED_MS);
  await enqueue(waybill, 1);
  await waybill.tenants.setLimits('t', { waiting: 2 });
  answer();
  await expect.poll(() => taken(waybill, 1, 'resource_exhausted')).toBe(0);
  expect(await taken(waybill, 5, 'resource_exhausted')).toBe(0);
  expect((await waybill.tenants.stats('t')).waiting).toBe(2);
});

describe('a rate of enqueuing', () => {
  const rate = { enqueueRate: { limit: 4, periodMs: 10_000 } };

  test('refuses what is too fast and says when to try again', async () => {
    const { server, clock } = fleet();
    const waybill = server();
    await waybill.tenants.setLimits('t', rate);
    expect(await taken(waybill, 6, 'rate_limited')).toBe(4);
    const refused = await waybill.jobs.enqueue(JOB, T).catch((error) => error);
    expect(refused.details).toMatchObject({ limit: 'enqueue_rate', max: 4, period_ms: 10_000 });
    const wait = refused.details.retry_after_ms as number;
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(11_000);
    await clock.advance(wait);
    expect(await taken(waybill, 6, 'rate_limited')).toBe(4);
  });

  // fault: eight servers enqueue at the same time
  test('is exceeded by no more than what each server writes at one time', async () => {
    const { server } = fleet();
    const servers = Array.from({ length: 8 }, () => server());
    await servers[0]!.tenants.setLimits('t', { enqueueRate: { limit: 200, periodMs: 60_000 } });
    const counts = await Promise.all(servers.map((one) => taken(one, 200, 'rate_limited')));
    const all = counts.reduce((sum, count) => sum + count, 0);
    expect(all).toBeGreaterThanOrEqual(200);
    expect(all).toBeLessThanOrEqual(200 + 2 * servers.length);
  });

  // fault: two servers enqueue at the same time
  test('counts what the other servers enqueue', async () => {
    const { server, clock } = fleet();
    const [one, two] = [server(), server()];
    await one.tenants.setLimits('t', rate);
    expect(await taken(one, 3, 'rate_limited')).toBe(3);
    await clock.advance(1_000);
    // The next call tells the others.
    expect(await taken(one, 1, 'rate_limited')).toBe(1);
    await clock.advance(1_000);
    expect(await taken(one, 1, 'rate_limited')).toBe(0);
    expect(await taken(two, 4, 'rate_limited')).toBe(0);
    await clock.advance(11_000);
    expect(await taken(two, 6, 'rate_limited')).toBe(4);
  });
});

// fault: the store counts slowly, and meanwhile the rate of the tenant is removed
test('a call that waits for the count goes on where its rate is removed meanwhile', async () => {
  const { server, store } = fleet();
  const counting = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const count: Store['count'] = async (...given) => {
    counting.resolve();
    await held.promise;
    return store.count(...given);
  };
  const waybill = server(Object.assign(Object.create(store), { count }) as Store);
  await waybill.tenants.setLimits('t', { waiting: 9, enqueueRate: { limit: 4, periodMs: 10_000 } });
  const first = enqueue(waybill, 1);
  await counting.promise;
  await waybill.tenants.setLimits('t', { enqueueRate: null });
  const second = enqueue(waybill, 1);
  held.resolve();
  expect(await Promise.all([first, second])).toHaveLength(2);
});

describe('what is not limited', () => {
  test('reads the limits once, and then never waits for them', async () => {
    const { server, store, clock } = fleet();
    const counted = faultyStore(store, []);
    const waybill = server(counted);
    await enqueue(waybill, 1);
    const [lists, gets, counts] = (['records.list', 'records.get', 'count'] as const).map(counted.calls);
    expect([lists, gets, counts]).toEqual([1, 0, 0]);
    for (let round = 0; round < 50; round++) await enqueue(waybill, 1);
    expect((['records.list', 'records.get', 'count'] as const).map(counted.calls)).toEqual([1, 0, 0]);
    await clock.advance(LIMITS_CACHED_MS);
    await Promise.all([enqueue(waybill, 1), enqueue(waybill, 1)]);
    expect(counted.calls('records.list')).toBe(2);
  });

  // fault: the store does not answer when the limits are read
  test('goes on when the limits cannot be read', async () => {
    const { server, store } = fleet();
    const plan: Fault[] = [1, 2].map((call) => ({ method: 'records.list', call, when: 'before' }));
    const waybill = server(faultyStore(store, plan));
    await enqueue(waybill, 1);
    await enqueue(waybill, 1);
    await waybill.tenants.setLimits('t', { waiting: 2 });
    expect(await taken(waybill, 1, 'resource_exhausted')).toBe(0);
  });
});
