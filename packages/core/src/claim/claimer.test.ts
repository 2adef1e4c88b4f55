import { expect, test, vi } from 'vitest';
import { memoryStore } from '../store/memory/memory-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';

// fault: two hundred calls at once
test('guarantee 2: two hundred claims at once never give a job twice', async () => {
  const { waybill, enqueue } = testEngine();
  await Promise.all(Array.from({ length: 100 }, () => enqueue()));
  const claims = await Promise.all(Array.from({ length: 200 }, () => waybill.jobs.claim({ queues: ['default'] })));
  const ids = claims.flat().map(({ job }) => job.id);
  expect(ids).toHaveLength(100);
  expect(new Set(ids).size).toBe(100);
});

// fault: the same call is made again
test('guarantee 10: the same claim id answers the same jobs', async () => {
  const { waybill, enqueue } = testEngine();
  await Promise.all(Array.from({ length: 5 }, () => enqueue()));
  const call = { queues: ['default'], count: 2, claimId: 'claim-0001' };
  const first = await waybill.jobs.claim(call);
  expect(await waybill.jobs.claim(call)).toEqual(first);
  expect(await waybill.jobs.claim({ ...call, claimId: 'claim-0002' })).toHaveLength(2);
});

test('higher priority first, then first in first out; earlier queues before later ones', async () => {
  const { waybill, enqueue } = testEngine();
  const low = await enqueue({ priority: -1 });
  const first = await enqueue();
  const second = await enqueue();
  const high = await enqueue({ priority: 100 });
  const other = await enqueue({ queue: 'other', priority: -100 });
  const leases = await waybill.jobs.claim({ queues: ['other', 'default'], count: 10 });
  expect(leases.map(({ job }) => job.id)).toEqual([other, high, first, second, low]);
});

test("the job's own visibility beats the claim's, which beats the engine's", async () => {
  const { waybill, clock, enqueue } = testEngine({ leaseMs: 7_000 });
  await enqueue({ visibility_timeout_ms: 1_234 });
  await enqueue();
  const [own, asked] = await waybill.jobs.claim({ queues: ['default'], count: 2, leaseMs: 5_000 });
  await enqueue();
  const [plain] = await waybill.jobs.claim({ queues: ['default'] });
  const lengths = [own, asked, plain].map((lease) => lease!.job.leaseUntil! - clock.now());
  expect(lengths).toEqual([1_234, 5_000, 7_000]);
});

test('a waiting claim gets a new job at once', async () => {
  const { waybill, clock, enqueue } = testEngine();
  const waiting = waybill.jobs.claim({ queues: ['default'], waitMs: 60_000 });
  await clock.whenSleeping(3);
  const id = await enqueue();
  expect((await waiting).map(({ job }) => job.id)).toEqual([id]);
});

// fault: the wake-up of another process is lost
test('guarantee 5: a job whose wake-up got lost is found by the safety net', async () => {
  const { waybill, clock, store } = testEngine();
  const other = testEngine({ on: { ...store, onWake: () => () => {} }, clock });
  const waiting = other.waybill.jobs.claim({ queues: ['default'], waitMs: 60_000 });
  await clock.whenSleeping(5);
  const { job } = await waybill.jobs.enqueue({ type: 'a.b', args: [] });
  await clock.advance(1_000);
  expect((await waiting).map((lease) => lease.job.id)).toEqual([job.id]);
});

test('a waiting claim answers nothing after its time, when aborted, and when the engine closes', async () => {
  const { waybill, clock } = testEngine();
  const late = waybill.jobs.claim({ queues: ['default'], waitMs: 5_000 });
  await clock.whenSleeping(3);
  await clock.advance(5_000);
  expect(await late).toEqual([]);

  const gone = new AbortController();
  const aborted = waybill.jobs.claim({ queues: ['default'], waitMs: 60_000, signal: gone.signal });
  await clock.whenSleeping(3);
  gone.abort();
  expect(await aborted).toEqual([]);

  const closed = waybill.jobs.claim({ queues: ['default'], waitMs: 60_000 });
  await clock.whenSleeping(3);
  await waybill.close();
  expect(await closed).toEqual([]);
});

test('a paused queue gives nothing until it is resumed', async () => {
  const { waybill, enqueue } = testEngine();
  await waybill.queues.pause('default');
  const id = await enqueue();
  expect(await waybill.jobs.claim({ queues: ['default'] })).toEqual([]);
  await waybill.queues.resume('default');
  expect((await waybill.jobs.claim({ queues: ['default'] })).map(({ job }) => job.id)).toEqual([id]);
});

test.each([
  ['no queue', { queues: [] }, 'queues'],
  ['a bad queue', { queues: ['default', 'Not OK'] }, 'queues[1]'],
  ['too many jobs', { queues: ['default'], count: 1_000_000 }, 'count'],
  ['no jobs', { queues: ['default'], count: 0 }, 'count'],
  ['a lease of nothing', { queues: ['default'], leaseMs: 0 }, 'visibility_timeout_ms'],
  ['a worker without a name', { queues: ['default'], workerId: '' }, 'worker_id'],
  ['a worker with a null byte', { queues: ['default'], workerId: 'a\u0000b' }, 'worker_id'],
  ['a worker with half a letter', { queues: ['default'], workerId: 'a\ud800' }, 'worker_id'],
  ['a bad claim id', { queues: ['default'], claimId: 'a.b' }, 'claim_id'],
])('a claim with %s is refused', async (_, call, field) => {
  const { waybill } = testEngine();
  await expect(waybill.jobs.claim(call)).rejects.toMatchObject({ code: 'invalid_request', details: { field } });
});

test('a worker is told its directive by every heartbeat', async () => {
  const { waybill } = testEngine();
  expect(await waybill.jobs.heartbeat({ workerId: 'one', jobs: [] })).toMatchObject({ directive: 'running' });
  await waybill.workers.direct('one', 'quiet');
  expect(await waybill.jobs.heartbeat({ workerId: 'one', jobs: [] })).toMatchObject({ directive: 'quiet' });
  await expect(waybill.workers.direct('unheard-of', 'quiet')).rejects.toMatchObject({ code: 'not_found' });
});

test('the store is listened to by those who wait for jobs, and not by those who only enqueue', async () => {
  const clock = new TestClock();
  const on = memoryStore({ clock });
  const listening = vi.spyOn(on, 'onWake');
  const { waybill, enqueue } = testEngine({ on, clock });
  await enqueue();
  await waybill.jobs.claim({ queues: ['default'] });
  expect(listening).not.toHaveBeenCalled();
  const waiting = waybill.jobs.claim({ queues: ['default'], waitMs: 1_000 });
  await clock.advance(1_000);
  await waiting;
  expect(listening).toHaveBeenCalled();
});
