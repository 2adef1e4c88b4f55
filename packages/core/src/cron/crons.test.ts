import { describe, expect, test } from 'vitest';
import { memoryStore } from '../store/memory/memory-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import type { Crons } from '../waybill.ts';

const MINUTE = 60_000;
const everyMinute = {
  name: 'tick',
  expression: '* * * * *',
  job_template: { type: 'cron.job', args: [1], options: { queue: 'cron' } },
};

/** Takes everything that is in the queue of the cron, and answers how much that was. */
async function take({ waybill }: ReturnType<typeof testEngine>, settle = true): Promise<number> {
  const leases = await waybill.jobs.claim({ queues: ['cron'], count: 1_000, leaseMs: 86_400_000 });
  if (settle) {
    const outcome = { kind: 'completed', result: null } as const;
    await Promise.all(leases.map(({ job, token }) => waybill.jobs.settle({ id: job.id, leaseToken: token, outcome })));
  }
  return leases.length;
}

// fault: five servers sweep at once
test('guarantee 9: each tick is fired once, whatever the number of servers', async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const servers = Array.from({ length: 5 }, () => testEngine({ on: store, clock }));
  await servers[0]!.waybill.crons.put({ ...everyMinute, overlap_policy: 'allow' });
  for (let minute = 0; minute < 5; minute += 1) await clock.advance(MINUTE);
  expect(await take(servers[0]!)).toBe(5);
  expect(await servers[0]!.waybill.crons.get('tick')).toMatchObject({
    runs: 5,
    lastAt: clock.now(),
    nextAt: clock.now() + MINUTE,
  });
});

// fault: the server stops, and another one starts before the next tick
test('guarantee 9: a restart neither loses nor doubles a tick', async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const first = testEngine({ on: { ...store, close: async () => {} }, clock });
  await first.waybill.crons.put({ ...everyMinute, overlap_policy: 'allow' });
  await clock.advance(MINUTE);
  await first.waybill.close();
  await clock.advance(30_000);
  const second = testEngine({ on: store, clock });
  // Its sweep and its pruning have looked once and wait.
  await clock.whenSleeping(2);
  await clock.advance(30_000);
  expect(await take(second)).toBe(2);
});

describe('overlap', () => {
  test('skip: no new job while the last one has not finished', async () => {
    const made = testEngine();
    await made.waybill.crons.put({ ...everyMinute, overlap_policy: 'skip' });
    await made.clock.advance(MINUTE);
    expect(await take(made, false)).toBe(1);
    await made.clock.advance(3 * MINUTE);
    expect(await take(made)).toBe(0);
  });

  test('cancel_previous: the last one is lost to its worker', async () => {
    const made = testEngine();
    await made.waybill.crons.put({ ...everyMinute, overlap_policy: 'cancel_previous' });
    await made.clock.advance(MINUTE);
    await take(made, false);
    await made.clock.advance(MINUTE);
    const { items } = await made.waybill.jobs.list({ limit: 10 });
    expect(items.map(({ state }) => state).sort()).toEqual(['available', 'cancelled']);
  });

  // fault: the last job is handed back between the read of the sweep and its write, in two ticks in a row
  test('A17: guarantee 9: cancel_previous never leaves two jobs alive, whatever else changes the last one', async () => {
    const clock = new TestClock();
    const store = memoryStore({ clock });
    let settleBetween: (() => Promise<unknown>) | undefined;
    const get: typeof store.get = async (ids) => {
      const jobs = await store.get(ids);
      const change = settleBetween;
      settleBetween = undefined;
      await change?.();
      return jobs;
    };
    const sweeping = testEngine({ on: { ...store, get, close: async () => {} }, clock });
    const beside = testEngine({ on: store, clock, maintenance: false });
    await sweeping.waybill.crons.put({ ...everyMinute, overlap_policy: 'cancel_previous' });
    await clock.advance(MINUTE);
    for (let tick = 0; tick < 2; tick += 1) {
      const leases = await beside.waybill.jobs.claim({ queues: ['cron'], count: 10, leaseMs: 86_400_000 });
      expect(leases).toHaveLength(1);
      const { job, token } = leases[0]!;
      const { promise, resolve } = Promise.withResolvers<void>();
      settleBetween = async () => {
        await beside.waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'requeued' } });
        resolve();
      };
      await clock.advance(MINUTE);
      await promise;
      const { items } = await beside.waybill.jobs.list({ limit: 10 });
      expect(items.filter(({ state }) => state !== 'cancelled').map(({ state }) => state)).toEqual(['available']);
    }
    expect(await beside.waybill.crons.get('tick')).toMatchObject({ runs: 3 });
  });
});

describe('ticks that nobody was there to fire', () => {
  // fault: nobody was there at the tick, and the next process registers its crons before it sweeps
  test('A6: guarantee 9: registering the same cron again at start does not drop the tick that was missed', async () => {
    const clock = new TestClock();
    const store = memoryStore({ clock });
    const hourly = { ...everyMinute, expression: '0 * * * *' };
    const before = testEngine({ on: { ...store, close: async () => {} }, clock });
    await before.waybill.crons.put(hourly);
    await before.waybill.close();
    await clock.advance(70 * MINUTE);
    const registrar = testEngine({ on: { ...store, close: async () => {} }, clock, maintenance: false });
    await registrar.waybill.crons.put({ ...hourly, description: 'changed on the way' });
    const later = testEngine({ on: store, clock });
    await clock.whenSleeping(2);
    for (let turn = 0; turn < 20; turn += 1) await clock.advance(1);
    expect(await take(later)).toBe(1);
  });

  async function after(hours: number, cron: Record<string, unknown>): Promise<number> {
    const clock = new TestClock();
    const store = memoryStore({ clock });
    const before = testEngine({ on: { ...store, close: async () => {} }, clock });
    await before.waybill.crons.put({ ...everyMinute, expression: '0 * * * *', overlap_policy: 'allow', ...cron });
    await before.waybill.close();
    await clock.advance(hours * 60 * MINUTE + 10 * MINUTE);
    const later = testEngine({ on: store, clock });
    await clock.whenSleeping(2);
    for (let turn = 0; turn < 20; turn += 1) await clock.advance(1);
    return take(later);
  }

  test('run_once makes up for all of them with one job', async () => {
    expect(await after(5, { misfire_policy: 'run_once' })).toBe(1);
  });

  test('skip passes over them', async () => {
    expect(await after(5, { misfire_policy: 'skip' })).toBe(0);
  });

  test('catch_up makes one job for each, up to its limit', async () => {
    expect(await after(5, { misfire_policy: 'catch_up' })).toBe(5);
    expect(await after(500, { misfire_policy: 'catch_up', catch_up_limit: 3 })).toBe(3);
  });
});

test('is changed, paused, resumed and removed at run time', async () => {
  const made = testEngine();
  const { crons } = made.waybill;
  await crons.put(everyMinute);
  await crons.setEnabled('tick', false);
  await made.clock.advance(5 * MINUTE);
  expect(await take(made)).toBe(0);
  expect(await crons.setEnabled('tick', true)).toMatchObject({ nextAt: made.clock.now() + MINUTE });
  await crons.put({ ...everyMinute, expression: '0 0 1 1 *' });
  expect(await crons.list()).toHaveLength(1);
  await made.clock.advance(5 * MINUTE);
  expect(await take(made)).toBe(0);
  await crons.remove('tick');
  await expect(crons.get('tick')).rejects.toMatchObject({ code: 'not_found' });
  await expect(crons.remove('tick')).rejects.toMatchObject({ code: 'not_found' });
});

test.each<[string, Record<string, unknown>, string]>([
  ['no name', { name: undefined }, 'invalid_request'],
  ['a name in capitals', { name: 'Tick' }, 'invalid_request'],
  ['no expression', { expression: undefined }, 'invalid_request'],
  ['an expression that never fires', { expression: '0 0 31 2 *' }, 'validation_error'],
  ['a template without type', { job_template: { args: [] } }, 'invalid_request'],
  [
    'a template with an id',
    { job_template: { type: 'a.b', args: [], id: '019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f' } },
    'invalid_request',
  ],
  ['a unique template', { job_template: { type: 'a.b', args: [], options: { unique: {} } } }, 'invalid_request'],
  ['an unknown policy', { overlap_policy: 'fight' }, 'invalid_request'],
])('refuses %s, and stores nothing', async (_, broken, code) => {
  const { waybill } = testEngine();
  await expect(waybill.crons.put({ ...everyMinute, ...broken } as never)).rejects.toMatchObject({ code });
  expect(await waybill.crons.list()).toEqual([]);
});

describe('switching a cron on or off while others change it', () => {
  /** Lets something happen between the first read of the cron and its change. */
  async function interrupted(what: (crons: Crons) => Promise<unknown>) {
    const clock = new TestClock();
    const model = memoryStore({ clock });
    let then: (() => Promise<unknown>) | undefined;
    const get: typeof model.crons.get = async (...args) => {
      const cron = await model.crons.get(...args);
      const now = then;
      then = undefined;
      await now?.();
      return cron;
    };
    const { waybill } = testEngine({ clock, on: { ...model, crons: { ...model.crons, get } } });
    await waybill.crons.put(everyMinute);
    then = () => what(waybill.crons);
    return waybill.crons;
  }

  // fault: the cron is removed between the read and the write
  test('one that was removed meanwhile does not come back', async () => {
    const crons = await interrupted((others) => others.remove(everyMinute.name));
    await expect(crons.setEnabled(everyMinute.name, false)).rejects.toMatchObject({ code: 'not_found' });
    expect(await crons.list()).toEqual([]);
  });

  // fault: the cron is changed between the read and the write
  test('a change that was made meanwhile is not undone', async () => {
    const crons = await interrupted((others) => others.put({ ...everyMinute, expression: '0 4 * * *' }));
    const paused = await crons.setEnabled(everyMinute.name, false);
    expect(paused).toMatchObject({ enabled: false, nextAt: null, expression: '0 4 * * *' });
    expect(await crons.get(everyMinute.name)).toEqual(paused);
  });
});

// fault: a caller enqueues under the key that the engine gives to the next tick
test('guarantee 9: no caller can take the place of a tick by an idempotency key', async () => {
  const server = testEngine();
  const { waybill, clock } = server;
  await waybill.crons.put(everyMinute);
  const tick = Math.floor(clock.now() / MINUTE) * MINUTE + MINUTE;
  await waybill.jobs.enqueue({ type: 'other.job', args: [] }, { idempotencyKey: `cron:tick:${tick}` });
  await clock.advance(MINUTE);
  expect(await waybill.crons.get('tick')).toMatchObject({ runs: 1, lastAt: tick });
  expect(await take(server)).toBe(1);
  const own = waybill.jobs.enqueue({ type: 'other.job', args: [] }, { idempotencyKey: `§cron:tick:${tick + MINUTE}` });
  await expect(own).rejects.toMatchObject({ code: 'invalid_request' });
});
