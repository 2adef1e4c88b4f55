import { describe, expect, test } from 'vitest';
import type { Outcome } from '../job/outcome.ts';
import { testEngine } from '../testing/test-engine.ts';

const done: Outcome = { kind: 'completed', result: { ok: true } };
const failed: Outcome = { kind: 'failed', error: { code: 'handler_error', message: 'no luck' } };

test('a completed job keeps its result and ends with one terminal event', async () => {
  const { waybill, enqueue, claimOne } = testEngine();
  const id = await enqueue();
  const { token } = await claimOne();
  expect(await waybill.jobs.settle({ id, leaseToken: token, outcome: done })).toMatchObject({
    state: 'completed',
    result: { ok: true },
  });
  const { events } = await waybill.events.read({ limit: 10 });
  expect(events.map(({ type, sequence }) => [type, sequence])).toEqual([
    ['job.enqueued', 1],
    ['job.started', 2],
    ['job.completed', 3],
  ]);
});

test('settling with the token of a job claimed here costs no read', async () => {
  const { waybill, store, enqueue, claimOne } = testEngine();
  const id = await enqueue();
  const { token } = await claimOne();
  await waybill.jobs.settle({ id, leaseToken: token, outcome: done });
  expect(store.calls('get')).toBe(0);
});

describe('guarantee 3: fencing', () => {
  // fault: the lease runs out and another claim starts the next run
  test.each([done, failed, { kind: 'requeued' } as Outcome])(
    'a stale token settles nothing ($kind)',
    async (outcome) => {
      const { waybill, clock, enqueue, claimOne } = testEngine();
      const id = await enqueue();
      const stale = await claimOne({ leaseMs: 1_000 });
      await clock.advance(1_000);
      const fresh = await claimOne();
      expect(fresh.job).toMatchObject({ id, run: 2, attempt: 2 });
      const before = await waybill.jobs.get(id);
      await expect(waybill.jobs.settle({ id, leaseToken: stale.token, outcome })).rejects.toMatchObject({
        code: 'lease_lost',
      });
      expect(await waybill.jobs.get(id)).toEqual(before);
      await waybill.jobs.settle({ id, leaseToken: fresh.token, outcome: done });
    },
  );

  // fault: the run is past its execution timeout, and no sweep has looked
  test.each([{ leaseToken: 'token' }, { workerId: 'one' }, {}])(
    'a run past its execution timeout completes nothing, though nobody has swept yet (%o)',
    async (fence) => {
      const { waybill, clock, enqueue, claimOne } = testEngine({ maintenance: false });
      const id = await enqueue({ timeout_ms: 1_000 });
      const { token } = await claimOne({ workerId: 'one' });
      await clock.advance(1_000);
      const speaker = 'leaseToken' in fence ? { leaseToken: token } : fence;
      await expect(waybill.jobs.settle({ id, ...speaker, outcome: done })).rejects.toMatchObject({
        code: 'leaseToken' in fence || 'workerId' in fence ? 'lease_lost' : 'conflict',
      });
      expect(await waybill.jobs.get(id)).toMatchObject({ state: 'active', result: null });
      expect(await waybill.jobs.settle({ id, ...speaker, outcome: failed })).toMatchObject({
        state: 'retryable',
        outcome: 'timed_out',
        errors: [{ code: 'timeout' }],
      });
    },
  );

  // fault: a settle without a token, by another worker or by none
  test('without a token the worker fences, and without both the state', async () => {
    const { waybill, enqueue, claimOne } = testEngine();
    const id = await enqueue();
    await expect(waybill.jobs.settle({ id, outcome: done })).rejects.toMatchObject({ code: 'conflict' });
    await claimOne({ workerId: 'one' });
    await expect(waybill.jobs.settle({ id, workerId: 'two', outcome: done })).rejects.toMatchObject({
      code: 'lease_lost',
    });
    await waybill.jobs.settle({ id, workerId: 'one', outcome: done });
    await expect(waybill.jobs.settle({ id, outcome: done })).rejects.toMatchObject({ code: 'conflict' });
  });

  // fault: the lease runs out and another claim starts the next run
  test('a stale heartbeat extends nothing and hears so', async () => {
    const { waybill, clock, enqueue, claimOne } = testEngine();
    const id = await enqueue();
    const stale = await claimOne({ workerId: 'one', leaseMs: 1_000 });
    await clock.advance(1_000);
    await claimOne({ workerId: 'two', leaseMs: 5_000 });
    const before = await waybill.jobs.get(id);
    for (const job of [{ id, leaseToken: stale.token }, { id }, { id, leaseToken: 'nonsense' }]) {
      const answer = await waybill.jobs.heartbeat({ workerId: 'one', jobs: [job] });
      expect(answer).toMatchObject({ extended: [], lost: [id] });
    }
    expect(await waybill.jobs.get(id)).toEqual(before);
  });

  // fault: the job is cancelled while it runs
  test('a cancelled job is lost to its worker', async () => {
    const { waybill, enqueue, claimOne } = testEngine();
    const id = await enqueue();
    const { token } = await claimOne({ workerId: 'one' });
    await waybill.jobs.cancel(id, { by: 'ada', reason: 'changed my mind' });
    expect(await waybill.jobs.heartbeat({ workerId: 'one', jobs: [{ id, leaseToken: token }] })).toMatchObject({
      lost: [id],
    });
    await expect(waybill.jobs.settle({ id, leaseToken: token, outcome: done })).rejects.toMatchObject({
      code: 'lease_lost',
    });
    await expect(waybill.jobs.cancel(id)).rejects.toMatchObject({ code: 'conflict' });
  });

  // fault: a malformed token
  test.each(['', 'nonsense', '0.abc', '1.', '-1.abc'])(
    'a token that nobody made (%j) is refused',
    async (leaseToken) => {
      const { waybill, enqueue, claimOne } = testEngine();
      const id = await enqueue();
      await claimOne();
      await expect(waybill.jobs.settle({ id, leaseToken, outcome: done })).rejects.toMatchObject({
        code: 'lease_lost',
      });
    },
  );
});

describe('guarantee 10: repetition', () => {
  // fault: the same call is made again
  test('the same outcome under the same token answers again and writes nothing', async () => {
    const { waybill, enqueue, claimOne } = testEngine();
    const id = await enqueue();
    const { token } = await claimOne();
    const first = await waybill.jobs.settle({ id, leaseToken: token, outcome: failed });
    expect(await waybill.jobs.settle({ id, leaseToken: token, outcome: failed })).toEqual(first);
    await expect(waybill.jobs.settle({ id, leaseToken: token, outcome: done })).rejects.toMatchObject({
      code: 'lease_lost',
    });
  });

  // fault: the connection breaks before or after the effect of a store call
  test.each(['before', 'after'] as const)(
    'a settle whose connection breaks %s its effect is made once',
    async (when) => {
      const { waybill, enqueue, claimOne } = testEngine({ faults: [{ method: 'apply', call: 1, when }] });
      const id = await enqueue();
      const { token } = await claimOne();
      expect(await waybill.jobs.settle({ id, leaseToken: token, outcome: done })).toMatchObject({ state: 'completed' });
      const { events } = await waybill.events.read({ limit: 10 });
      expect(events.filter(({ type }) => type === 'job.completed')).toHaveLength(1);
    },
  );

  // fault: the connection breaks before or after the effect of a store call
  test.each(['before', 'after'] as const)(
    'a claim whose connection breaks %s its effect takes one run',
    async (when) => {
      const { waybill, enqueue, claimOne } = testEngine({ faults: [{ method: 'claim', call: 1, when }] });
      const id = await enqueue();
      expect((await claimOne()).job).toMatchObject({ id, run: 1, attempt: 1 });
      const { events } = await waybill.events.read({ limit: 10 });
      expect(events.filter(({ type }) => type === 'job.started')).toHaveLength(1);
    },
  );
});

test('an unknown job cannot be settled', async () => {
  const { waybill } = testEngine();
  const call = { id: '019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f', outcome: done };
  await expect(waybill.jobs.settle(call)).rejects.toMatchObject({ code: 'not_found' });
});

test('snooze and requeue do not consume the attempt', async () => {
  const { waybill, clock, enqueue, claimOne } = testEngine();
  const id = await enqueue();
  const first = await claimOne();
  const until = clock.now() + 3_000;
  await waybill.jobs.settle({ id, leaseToken: first.token, outcome: { kind: 'snoozed', until } });
  expect(await waybill.jobs.get(id)).toMatchObject({ state: 'retryable', attempt: 0, nextAt: until });
  await clock.advance(3_000);
  const second = await claimOne();
  await waybill.jobs.settle({ id, leaseToken: second.token, outcome: { kind: 'requeued' } });
  expect((await claimOne()).job).toMatchObject({ run: 3, attempt: 1, errors: [] });
});

// fault: the connection breaks before or after the effect of a store call
test.each(['before', 'after'] as const)(
  'guarantee 10: a cancel whose connection breaks %s its effect is made once',
  async (when) => {
    const { waybill, enqueue } = testEngine({ faults: [{ method: 'apply', call: 1, when }] });
    const id = await enqueue();
    expect(await waybill.jobs.cancel(id)).toMatchObject({ state: 'cancelled', version: 2 });
  },
);
