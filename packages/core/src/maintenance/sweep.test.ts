import { expect, test } from 'vitest';
import { TERMINAL_EVENT_TYPES } from '../events/job-event.ts';
import type { Outcome } from '../job/outcome.ts';
import { silentLogger } from '../logger.ts';
import { testEngine } from '../testing/test-engine.ts';

const failed: Outcome = { kind: 'failed', error: { code: 'handler_error', message: 'no luck' } };
const steady = { jitter: false, initial_interval: 'PT1S', max_attempts: 3 };

test('a failed job comes back when its backoff is over, and ends when its attempts are used up', async () => {
  const { waybill, clock, enqueue, claimOne } = testEngine();
  const id = await enqueue({ retry: { ...steady, on_exhaustion: 'dead_letter' } });
  for (const [attempt, delay] of [
    [1, 1_000],
    [2, 2_000],
  ] as const) {
    const { token, job } = await claimOne();
    expect(job.attempt).toBe(attempt);
    expect(await waybill.jobs.settle({ id, leaseToken: token, outcome: failed })).toMatchObject({
      state: 'retryable',
      retryDelayMs: delay,
    });
    await clock.advance(delay - 1);
    expect(await waybill.jobs.claim({ queues: ['default'] })).toEqual([]);
    await clock.advance(1);
  }
  const { token } = await claimOne();
  expect(await waybill.jobs.settle({ id, leaseToken: token, outcome: failed })).toMatchObject({
    state: 'discarded',
    dead: true,
    errors: { length: 3 },
  });
});

// fault: the worker falls silent and its lease runs out
test('guarantee 2: the next run starts only after the lease ran out, and the lost run leaves its error', async () => {
  const { waybill, clock, enqueue, claimOne } = testEngine();
  const id = await enqueue();
  await claimOne({ leaseMs: 2_000 });
  await clock.advance(1_999);
  expect(await waybill.jobs.claim({ queues: ['default'] })).toEqual([]);
  await clock.advance(1);
  const { job } = await claimOne();
  expect(job).toMatchObject({ id, run: 2, attempt: 2, errors: [{ code: 'visibility_timeout', attempt: 1 }] });
});

test('a lease that runs out on the last attempt ends the job', async () => {
  const { waybill, clock, enqueue, claimOne } = testEngine();
  const id = await enqueue({ retry: { max_attempts: 1 } });
  await claimOne({ leaseMs: 1_000 });
  await clock.advance(1_000);
  expect(await waybill.jobs.get(id)).toMatchObject({ state: 'discarded', outcome: 'lost', dead: false });
});

test('the execution timeout holds whatever the worker does', async () => {
  const { waybill, clock, enqueue, claimOne } = testEngine();
  const id = await enqueue({ timeout_ms: 3_000, retry: steady });
  const { token } = await claimOne({ workerId: 'one', leaseMs: 2_000 });
  await clock.advance(1_500);
  const beat = await waybill.jobs.heartbeat({ workerId: 'one', jobs: [{ id, leaseToken: token }], leaseMs: 60_000 });
  expect(beat.extended).toEqual([{ id, leaseUntil: clock.now() + 1_500 }]);
  await clock.advance(1_500);
  expect(await waybill.jobs.get(id)).toMatchObject({
    state: 'retryable',
    outcome: 'timed_out',
    errors: [{ code: 'timeout' }],
  });
  await expect(waybill.jobs.settle({ id, leaseToken: token, outcome: failed })).rejects.toMatchObject({
    code: 'lease_lost',
  });
});

test('a job that has not started in time expires', async () => {
  const { waybill, clock, enqueue } = testEngine();
  const id = await enqueue({ expires_at: '+PT5S' });
  await clock.advance(5_000);
  expect(await waybill.jobs.get(id)).toMatchObject({ state: 'discarded', outcome: 'expired', dead: false });
  const { events } = await waybill.events.read({ limit: 10 });
  expect(events.map(({ type }) => type)).toEqual(['job.enqueued', 'job.expired']);
});

// fault: five servers sweep at once
test('guarantee 4: any number of servers may sweep; each tick happens once', async () => {
  const first = testEngine();
  const others = Array.from({ length: 4 }, () => testEngine({ on: first.store, clock: first.clock }));
  const ids = await Promise.all(
    Array.from({ length: 20 }, () => first.enqueue({ scheduled_at: '+PT1S', expires_at: '+PT3S' })),
  );
  for (let second = 0; second < 4; second += 1) await first.clock.advance(1_000);
  expect(others).toHaveLength(4);
  const { events } = await first.waybill.events.read({ limit: 1_000 });
  for (const id of ids) {
    const own = events.filter(({ jobId }) => jobId === id);
    expect(own.map(({ type }) => type)).toEqual(['job.scheduled', 'job.enqueued', 'job.expired']);
    expect(own.filter(({ type }) => TERMINAL_EVENT_TYPES.has(type))).toHaveLength(1);
  }
});

test.each(['before', 'after'] as const)('a sweep whose write breaks %s its effect is repeated', async (when) => {
  const { waybill, clock, enqueue } = testEngine({
    faults: [
      { method: 'apply', call: 1, when },
      { method: 'due', call: 3, when },
    ],
  });
  const id = await enqueue({ scheduled_at: '+PT1S' });
  await clock.advance(1_000);
  await clock.advance(2_000);
  expect(await waybill.jobs.get(id)).toMatchObject({ state: 'available', version: 2 });
});

test.each([3_600_000, -3_600_000])(
  'after the clock jumped by %d ms, leases are not rescued for one lease time',
  async (jump) => {
    const { waybill, clock, enqueue, claimOne } = testEngine();
    const id = await enqueue();
    const { token } = await claimOne({ workerId: 'one', leaseMs: 30_000 });
    await clock.advance(10_000);
    clock.jump(jump);
    await clock.advance(20_000);
    expect(await waybill.jobs.get(id)).toMatchObject({ state: 'active', run: 1 });
    const beat = await waybill.jobs.heartbeat({ workerId: 'one', jobs: [{ id, leaseToken: token }] });
    expect(beat.lost).toEqual([]);
    await waybill.jobs.settle({ id, leaseToken: token, outcome: { kind: 'completed', result: null } });
  },
);

test('retention removes what is too old and nothing that lives', async () => {
  const { waybill, clock, enqueue, claimOne } = testEngine({
    retention: { finishedMs: 60_000, deadMs: 600_000, eventsMs: 60_000, everyMs: 10_000 },
  });
  const old = await enqueue();
  const { token } = await claimOne();
  await waybill.jobs.settle({ id: old, leaseToken: token, outcome: { kind: 'completed', result: null } });
  const dead = await enqueue({ retry: { on_exhaustion: 'dead_letter' } });
  const lease = await claimOne();
  await waybill.jobs.settle({
    id: dead,
    leaseToken: lease.token,
    outcome: { ...failed, kind: 'discarded' } as Outcome,
  });
  const waiting = await enqueue({ scheduled_at: '+PT1H' });
  await clock.advance(80_000);
  await expect(waybill.jobs.get(old)).rejects.toMatchObject({ code: 'not_found' });
  expect(await waybill.jobs.get(dead)).toMatchObject({ state: 'discarded' });
  expect(await waybill.jobs.get(waiting)).toMatchObject({ state: 'scheduled' });
  await clock.advance(600_000);
  await expect(waybill.jobs.get(dead)).rejects.toMatchObject({ code: 'not_found' });
});

test('D2: a run that the engine ends itself is told: past its timeout, with a lease that ran out, and for good', async () => {
  const lines: string[] = [];
  const logger = { ...silentLogger, warn: (_: object, message: string) => void lines.push(message) };
  const { clock, enqueue, claimOne } = testEngine({ logger });
  const id = await enqueue({ timeout_ms: 1_000, retry: { ...steady, max_attempts: 2 } });
  await claimOne();
  await clock.advance(1_000);
  await clock.advance(1_000);
  await claimOne({ leaseMs: 500 });
  await clock.advance(500);
  expect(lines).toEqual([
    `Job ${id} test.job failed on attempt 1 of 2: The run exceeded its execution timeout of 1000 ms. It will be retried in 1.0 s. See: waybill jobs show ${id}`,
    `Job ${id} test.job was discarded after 2 attempts: The lease ran out before the run was settled. See: waybill jobs show ${id}`,
  ]);
});

test('what becomes due while a sweep is under way is looked at right after it', async () => {
  const { waybill, clock, store, enqueue } = testEngine({ sweepEveryMs: 1_999 });
  await clock.whenSleeping(2);
  const id = await enqueue({ scheduled_at: '+PT2S' });
  const due = store.due;
  // A slow store: the moment comes between the question and the answer.
  store.due = async (query) => {
    const answer = await due(query);
    if (answer.nextAt === clock.now() + 1) clock.jump(1);
    return answer;
  };
  await clock.advance(1_999);
  await clock.advance(0);
  expect(await waybill.jobs.get(id)).toMatchObject({ state: 'available' });
});
