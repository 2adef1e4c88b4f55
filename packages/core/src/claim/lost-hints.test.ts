import { expect, test } from 'vitest';
import type { Outcome } from '../job/outcome.ts';
import { silentLogger } from '../logger.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import type { Store } from '../store/store.ts';
import { memoryTransport } from '../testing/memory-transport.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import type { Hint, Received, Transport } from '../transport/transport.ts';
import type { Lease } from '../waybill.ts';

const MINUTE_MS = 60_000;

/** An engine whose transport can be told to lose what is sent. */
function onLossyMessages({ claimsByRank = true, depth }: { claimsByRank?: boolean; depth?: () => number } = {}) {
  const clock = new TestClock();
  const inner = memoryStore({ clock });
  const store: Store = { ...inner, capabilities: { ...inner.capabilities, claimsByRank } };
  if (!claimsByRank) store.claim = async (requests) => requests.map(() => []);
  const messages = memoryTransport({ clock });
  const sent: { at: number; hint: Hint }[] = [];
  const line = { isBroken: true };
  const transport: Transport = {
    ...messages,
    send: async (hints) => {
      for (const hint of hints) sent.push({ at: clock.now(), hint });
      if (!line.isBroken) await messages.send(hints);
    },
    ...(depth && { depth: async () => depth() }),
  };
  return { ...testEngine({ on: store, clock, transport }), sent, line };
}

const ids = (leases: readonly { job: { id: string } }[]): string[] => leases.map(({ job }) => job.id);

// fault: every hint is lost
test('guarantee 5: an empty receive looks into the store, so a lost hint costs no job', async () => {
  const { waybill, enqueue } = onLossyMessages();
  const id = await enqueue();
  expect(ids(await waybill.jobs.claim({ queues: ['default'] }))).toEqual([id]);
});

// fault: every hint is lost
test('guarantee 5: a waiting claim looks once a second', async () => {
  const { waybill, clock, store, enqueue } = onLossyMessages();
  const waiting = waybill.jobs.claim({ queues: ['default'], waitMs: 20_000 });
  await clock.whenSleeping(4);
  const id = await enqueue();
  expect(store.calls('claim')).toBe(0);
  await clock.advance(1_000);
  expect(ids(await waiting)).toEqual([id]);
  expect(store.calls('claim')).toBe(1);
});

test('looks that find nothing are a second apart, those that find something follow each other', async () => {
  const { waybill, clock, store, enqueue } = onLossyMessages();
  const claim = () => waybill.jobs.claim({ queues: ['default'] });
  await Promise.all([claim(), claim(), claim()]);
  expect(store.calls('claim')).toBe(1);
  await clock.advance(999);
  await claim();
  expect(store.calls('claim')).toBe(1);
  await clock.advance(1);
  await claim();
  expect(store.calls('claim')).toBe(2);
  for (let i = 0; i < 3; i++) await enqueue();
  expect([...(await claim()), ...(await claim()), ...(await claim())]).toHaveLength(3);
  expect(store.calls('claim')).toBe(5);
});

test('a fetch after an enqueue finds the job, though its hint is lost and somebody has just looked in vain', async () => {
  const { waybill, store, enqueue } = onLossyMessages();
  const claim = (queue: string) => waybill.jobs.claim({ queues: [queue] });
  for (let round = 1; round <= 3; round++) {
    expect(await claim('default')).toEqual([]);
    const id = await enqueue();
    expect(ids(await claim('default'))).toEqual([id]);
    expect(await claim('default')).toEqual([]);
  }
  await claim('other');
  const looks = store.calls('claim');
  await enqueue();
  expect(await claim('other')).toEqual([]);
  expect(store.calls('claim')).toBe(looks);
});

test('the same for a job whose retry has come, and for one that was admitted to its limit', async () => {
  const { waybill, clock, enqueue, claimOne } = onLossyMessages();
  const retry = { jitter: false, initial_interval: 'PT1S' };
  const id = await enqueue({ retry, rate_limit: { key: 'one', concurrency: 1 } });
  const next = await enqueue({ rate_limit: { key: 'one', concurrency: 1 } });
  const settle = ({ job, token }: Lease, outcome: Outcome) =>
    waybill.jobs.settle({ id: job.id, leaseToken: token, outcome });
  const none = async () => expect(await waybill.jobs.claim({ queues: ['default'] })).toEqual([]);
  const first = await claimOne();
  await none();
  await settle(first, { kind: 'failed', error: { code: 'boom', message: 'It broke.' } });
  const second = await claimOne();
  expect([first.job.id, second.job.id]).toEqual([id, next]);
  await settle(second, { kind: 'completed', result: null });
  await clock.advance(999);
  await none();
  await clock.advance(1);
  expect((await claimOne()).job.id).toBe(id);
});

test.each([1, 4, 40])('%i hints of jobs that are gone do not hide the next job from a fetch', async (count) => {
  const { waybill, line, enqueue } = onLossyMessages();
  line.isBroken = false;
  const claim = () => waybill.jobs.claim({ queues: ['default'] });
  for (const id of await Promise.all(Array.from({ length: count }, () => enqueue()))) await waybill.jobs.cancel(id);
  const id = await enqueue();
  expect(ids(await claim())).toEqual([id]);
});

test('a transport whose messages alone may be claimed has no safety net', async () => {
  const clock = new TestClock();
  const inner = memoryTransport({ clock });
  const transport = { ...inner, send: async () => {}, capabilities: { ...inner.capabilities, hasSafetyNet: false } };
  const { waybill, store, enqueue } = testEngine({ clock, transport });
  await enqueue();
  expect(await waybill.jobs.claim({ queues: ['default'] })).toEqual([]);
  expect(store.calls('claim')).toBe(0);
});

test('where hints come, nobody looks into the store', async () => {
  const { waybill, clock, store, line, enqueue, claimOne } = onLossyMessages();
  line.isBroken = false;
  for (let round = 0; round < 5; round++) {
    await enqueue();
    await claimOne();
    const waiting = waybill.jobs.claim({ queues: ['default'], waitMs: 20_000 });
    await clock.advance(900);
    const id = await enqueue();
    expect(ids(await waiting)).toEqual([id]);
  }
  expect(store.calls('claim')).toBe(0);
});

// fault: every hint is lost, and the store cannot be claimed by rank
test('guarantee 5: where the store cannot be looked into, a job is hinted again, with pauses that grow', async () => {
  const { clock, sent, enqueue } = onLossyMessages({ claimsByRank: false });
  const id = await enqueue();
  const start = clock.now();
  for (let minute = 0; minute < 30; minute++) await clock.advance(MINUTE_MS);
  expect(sent.map(({ hint }) => hint.jobId)).toEqual([id, id, id, id]);
  expect(sent.map(({ at }) => at - start)).toEqual([0, 25_000, 125_000, 525_000]);
});

test('a queue as deep as its claimable jobs is not hinted at again', async () => {
  let depth = 2;
  const { clock, sent, enqueue } = onLossyMessages({ claimsByRank: false, depth: () => depth });
  await Promise.all([enqueue(), enqueue()]);
  await clock.advance(2 * MINUTE_MS);
  expect(sent).toHaveLength(2);
  depth = 1;
  await clock.advance(4 * MINUTE_MS);
  expect(sent).toHaveLength(4);
});

test('over poll nobody looks at a row that only waits to be claimed', async () => {
  const { waybill, clock, store, enqueue } = testEngine();
  const id = await enqueue();
  await clock.advance(10 * MINUTE_MS);
  expect((await waybill.jobs.get(id)).nextAt).toBeNull();
  expect(store.calls('apply')).toBe(0);
});

// fault: the hint is dropped while its queue is paused
test('guarantee 5: a paused job whose hint was dropped is hinted when its queue goes on', async () => {
  const { waybill, line, enqueue } = onLossyMessages({ claimsByRank: false });
  line.isBroken = false;
  await waybill.queues.pause('default');
  const id = await enqueue();
  expect(await waybill.jobs.claim({ queues: ['default'] })).toEqual([]);
  await waybill.queues.resume('default');
  expect(ids(await waybill.jobs.claim({ queues: ['default'], waitMs: 1_000 }))).toEqual([id]);
});

// fault: every hint is lost, and the worker falls silent
test('guarantee 2: a job held by its lease is not hinted at again before it runs out', async () => {
  const { clock, sent, enqueue, claimOne } = onLossyMessages();
  await enqueue();
  await claimOne({ leaseMs: 10 * MINUTE_MS });
  await clock.advance(9 * MINUTE_MS);
  expect(sent).toHaveLength(1);
  await clock.advance(2 * MINUTE_MS);
  expect(sent.length).toBeGreaterThan(1);
});

// fault: the message queue cannot be reached
test('guarantee 5: while the queue cannot be reached, jobs come from the store', async () => {
  const clock = new TestClock();
  const away = () => Promise.reject(new Error('the queue is away'));
  const transport: Transport = { ...memoryTransport({ clock }), send: away, receive: away };
  const { waybill, enqueue } = testEngine({ clock, transport });
  const id = await enqueue();
  expect(ids(await waybill.jobs.claim({ queues: ['default'], waitMs: 5_000 }))).toEqual([id]);
  await expect(waybill.jobs.claim({ queues: ['default'] })).rejects.toThrow('the queue is away');
});

test('a foreign message becomes a job once, however often it is delivered', async () => {
  const clock = new TestClock();
  const inner = memoryTransport({ clock });
  const adopt = { type: 'foreign.task', args: [{ a: 1 }] };
  const foreign = (receipt: string) => ({ tenant: '', jobId: 'request-1', queue: 'default', receipt, adopt });
  const receive: Transport['receive'] = async () => ({ kind: 'hints', deliveries: [foreign('1'), foreign('2')] });
  const { waybill } = testEngine({ clock, transport: { ...inner, receive } });
  const leases = await waybill.jobs.claim({ queues: ['default'], count: 10 });
  expect(leases).toMatchObject([{ job: { type: 'foreign.task', spec: { args: [{ a: 1 }] } } }]);
  await waybill.jobs.settle({
    id: leases[0]!.job.id,
    leaseToken: leases[0]!.token,
    outcome: { kind: 'completed', result: null },
  });
  expect(await waybill.jobs.claim({ queues: ['default'], count: 10 })).toEqual([]);
});

/** An engine whose transport loses every hint, and whose receives end only when the test says so. */
function onStuckReceives() {
  const clock = new TestClock();
  const messages = memoryTransport({ clock });
  const stuck: PromiseWithResolvers<Received>[] = [];
  const released: string[] = [];
  const warned: string[] = [];
  const warn = (_: object, message: string) => void warned.push(message);
  const transport: Transport = {
    ...messages,
    send: async () => {},
    receive: () => {
      const receive = Promise.withResolvers<Received>();
      stuck.push(receive);
      return receive.promise;
    },
    release: async ({ receipt }) => void released.push(receipt),
  };
  const engine = testEngine({ clock, transport, logger: { ...silentLogger, warn } });
  return { ...engine, stuck, released, warned };
}

test('E2: jobs that a look has claimed are answered while the receive beside it hangs', async () => {
  const { waybill, clock, enqueue, stuck, released, warned } = onStuckReceives();
  const first = await enqueue();
  const claim = () => waybill.jobs.claim({ queues: ['default'], waitMs: 20_000 });
  const claimed = claim();
  await clock.advance(1_000);
  const leases = await claimed;
  expect(leases).toMatchObject([{ job: { id: first, attempt: 1 } }]);
  await waybill.jobs.settle({ id: first, leaseToken: leases[0]!.token, outcome: { kind: 'completed', result: null } });
  const second = await enqueue();
  const next = claim();
  await clock.advance(1_000);
  expect(ids(await next)).toEqual([second]);
  // What the first receive still brings is given back, and that the second one failed is logged.
  const delivery = { tenant: '', jobId: first, queue: 'default', receipt: 'late' };
  stuck[0]!.resolve({ kind: 'hints', deliveries: [delivery] });
  stuck[1]!.reject(new Error('the queue is away'));
  await clock.advance(0);
  expect(released).toEqual(['late']);
  expect(warned).toEqual(['A receive failed after its claim had been answered.']);
});

test('E2: a caller who gives up is answered while the receive hangs, and a close waits for it only for a while', async () => {
  const { waybill, clock, warned } = onStuckReceives();
  const caller = new AbortController();
  const claimed = waybill.jobs.claim({ queues: ['default'], waitMs: 20_000, signal: caller.signal });
  await clock.advance(0);
  caller.abort();
  expect(await claimed).toEqual([]);
  const closed = waybill.close();
  await clock.whenSleeping(1);
  await clock.advance(5_000);
  await closed;
  expect(warned).toEqual(['Receives had not ended at the close.']);
});
