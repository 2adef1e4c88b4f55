import { describe, expect, test } from 'vitest';
import { testEngine } from '../testing/test-engine.ts';

const unique = { keys: ['type', 'args'] };
const request = (args: unknown[], rule: Record<string, unknown>, options: Record<string, unknown> = {}) =>
  ({ type: 'a.b', args, options: { ...options, unique: { ...unique, ...rule } } }) as never;

// fault: fifty calls at once
test('guarantee 7: of many at once exactly one gets the key', async () => {
  const { waybill } = testEngine();
  const results = await Promise.allSettled(Array.from({ length: 50 }, () => waybill.jobs.enqueue(request([1], {}))));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect((await waybill.jobs.list({ limit: 100 })).items).toHaveLength(1);
});

test('reject says which job is in the way; another key is free', async () => {
  const { waybill } = testEngine();
  const { job } = await waybill.jobs.enqueue(request([1], {}));
  await expect(waybill.jobs.enqueue(request([1], {}))).rejects.toMatchObject({
    code: 'duplicate',
    details: { existing_job_id: job.id, existing_job_state: 'available' },
  });
  expect((await waybill.jobs.enqueue(request([2], {}))).created).toBe(true);
});

test('ignore answers the job that is there', async () => {
  const { waybill } = testEngine();
  const { job } = await waybill.jobs.enqueue(request([1], {}));
  expect(await waybill.jobs.enqueue(request([1], { on_conflict: 'ignore' }))).toEqual({ job, created: false });
});

describe('replace', () => {
  test('cancels the old job, also a running one, and its worker loses the lease', async () => {
    const { waybill, claimOne } = testEngine();
    const { job: old } = await waybill.jobs.enqueue(request([1], {}));
    const { token } = await claimOne();
    const { job, created } = await waybill.jobs.enqueue(request([1], { on_conflict: 'replace' }));
    expect(created).toBe(true);
    expect(await waybill.jobs.get(old.id)).toMatchObject({ state: 'cancelled' });
    const outcome = { kind: 'completed', result: null } as const;
    await expect(waybill.jobs.settle({ id: old.id, leaseToken: token, outcome })).rejects.toMatchObject({
      code: 'lease_lost',
    });
    expect((await claimOne()).job.id).toBe(job.id);
  });

  test('replace_except_schedule keeps the time of a scheduled job', async () => {
    const { waybill, clock } = testEngine();
    const { job: old } = await waybill.jobs.enqueue(request([1], {}, { scheduled_at: '+PT1H' }));
    const { job } = await waybill.jobs.enqueue(
      request([1], { on_conflict: 'replace_except_schedule' }, { scheduled_at: '+PT5H' }),
    );
    expect(job).toMatchObject({ state: 'scheduled', scheduledAt: old.scheduledAt, version: 1 });
    await clock.advance(3_600_000);
    expect(await waybill.jobs.get(job.id)).toMatchObject({ state: 'available' });
  });

  test('of many at once one is left alive', async () => {
    const { waybill } = testEngine();
    const calls = Array.from({ length: 20 }, () => waybill.jobs.enqueue(request([1], { on_conflict: 'replace' })));
    await Promise.all(calls);
    const { items } = await waybill.jobs.list({ limit: 100 });
    expect(items.map(({ state }) => state).sort()).toEqual(['available', ...Array(19).fill('cancelled')]);
  });
});

test('a finished job, or one whose period is over, is not in the way', async () => {
  const { waybill, clock, claimOne } = testEngine();
  await waybill.jobs.enqueue(request([1], { period: 'PT2S' }));
  await expect(waybill.jobs.enqueue(request([1], { period: 'PT2S' }))).rejects.toMatchObject({ code: 'duplicate' });
  await clock.advance(2_000);
  const { job } = await waybill.jobs.enqueue(request([1], { period: 'PT2S' }));
  for (let n = 0; n < 2; n += 1) {
    const lease = await claimOne();
    await waybill.jobs.settle({
      id: lease.job.id,
      leaseToken: lease.token,
      outcome: { kind: 'completed', result: null },
    });
  }
  expect(await waybill.jobs.get(job.id)).toMatchObject({ state: 'completed' });
  expect((await waybill.jobs.enqueue(request([1], {}))).created).toBe(true);
});

// fault: a successor takes the key before the replay
test('guarantee 7: a dead job is not replayed while another one has its key', async () => {
  const { waybill, claimOne } = testEngine();
  const retry = { max_attempts: 1, on_exhaustion: 'dead_letter' };
  const { job: dead } = await waybill.jobs.enqueue(request([1], {}, { retry }));
  const { token } = await claimOne();
  await waybill.jobs.settle({
    id: dead.id,
    leaseToken: token,
    outcome: { kind: 'failed', error: { code: 'x', message: '' } },
  });
  const { job } = await waybill.jobs.enqueue(request([1], {}));
  await expect(waybill.deadLetters.replay(dead.id)).rejects.toMatchObject({ code: 'duplicate' });
  await waybill.jobs.cancel(job.id);
  await expect(waybill.deadLetters.replay(dead.id)).rejects.toMatchObject({ code: 'duplicate' });
});

test('in a batch the whole batch is refused, or the existing job stands in its place', async () => {
  const { waybill } = testEngine();
  const { job } = await waybill.jobs.enqueue(request([1], {}));
  await expect(waybill.jobs.enqueueMany([request([2], {}), request([1], {})])).rejects.toMatchObject({
    code: 'duplicate',
    details: { index: 1 },
  });
  expect((await waybill.jobs.list({ limit: 10 })).items).toHaveLength(1);
  const jobs = await waybill.jobs.enqueueMany([request([2], {}), request([1], { on_conflict: 'ignore' })]);
  expect(jobs[1]).toEqual(job);
  await expect(waybill.jobs.enqueueMany([request([3], {}), request([3], {})])).rejects.toMatchObject({
    code: 'duplicate',
  });
});

test('A13: a batch that is sent again meets all its conflicts in one round', async () => {
  const { waybill, store } = testEngine();
  const batch = Array.from({ length: 1_000 }, (_, n) => request([n], { on_conflict: 'ignore' }));
  const first = await waybill.jobs.enqueueMany(batch);
  const before = store.calls('insert');
  const again = await waybill.jobs.enqueueMany(batch);
  expect(again).toEqual(first);
  expect(store.calls('insert') - before).toBe(1);
  const replaced = await waybill.jobs.enqueueMany(batch.map((_, n) => request([n], { on_conflict: 'replace' })));
  expect(store.calls('insert') - before).toBe(3);
  const { items, cursor } = await waybill.jobs.list({ limit: 1_000, filter: { states: ['available'] } });
  expect(cursor).toBeUndefined();
  expect(new Set(items.map(({ id }) => id))).toEqual(new Set(replaced.map(({ id }) => id)));
});

describe('jobs of one batch with the same unique key are decided about as if they came one by one', () => {
  const ruled = (on_conflict: string, options = {}, more = {}) => request([1], { on_conflict, ...more }, options);

  // fault: a batch has a unique key twice
  test('A22: guarantee 7: of those that replace each other the last is made, and answered for all', async () => {
    const { waybill } = testEngine();
    const { job: old } = await waybill.jobs.enqueue(ruled('reject'));
    const jobs = await waybill.jobs.enqueueMany([ruled('replace'), ruled('replace'), ruled('ignore')]);
    const alive = await waybill.jobs.list({ limit: 10, filter: { states: ['available'] } });
    expect(alive.items).toHaveLength(1);
    expect(jobs).toEqual([alive.items[0], alive.items[0], alive.items[0]]);
    expect(await waybill.jobs.get(old.id)).toMatchObject({ state: 'cancelled' });
    expect((await waybill.jobs.list({ limit: 10 })).items).toHaveLength(2);
  });

  test('A22: the later one takes the time of the one that it replaces', async () => {
    const { waybill } = testEngine();
    const [first, second] = await waybill.jobs.enqueueMany([
      ruled('reject', { scheduled_at: '+PT1H' }),
      ruled('replace_except_schedule'),
    ]);
    expect(first).toEqual(second);
    expect(second).toMatchObject({ state: 'scheduled', version: 1 });
  });

  test('A22: a rejected one names both, and nothing is stored', async () => {
    const { waybill } = testEngine();
    await expect(waybill.jobs.enqueueMany([ruled('reject'), ruled('reject')])).rejects.toMatchObject({
      code: 'duplicate',
      message: 'jobs[1] has the same unique key as jobs[0].',
      details: { index: 1, other_index: 0 },
    });
    expect((await waybill.jobs.list({ limit: 10 })).items).toEqual([]);
  });

  test('A22: one whose rule does not mind the other is made beside it, and owns the key', async () => {
    const { waybill } = testEngine();
    const onlyActive = { states: ['active'] };
    const [first, second] = await waybill.jobs.enqueueMany([ruled('reject'), ruled('reject', {}, onlyActive)]);
    expect(first!.id).not.toBe(second!.id);
    expect((await waybill.jobs.list({ limit: 10 })).items).toHaveLength(2);
    await waybill.jobs.cancel(second!.id);
    expect((await waybill.jobs.enqueue(ruled('reject'))).created).toBe(true);
  });
});

// fault: retention removes finished jobs long before the period of their keys is over
test('A16: guarantee 7: a period that is longer than the retention holds to its end', async () => {
  const HOUR = 3_600_000;
  const retention = { finishedMs: HOUR, deadMs: HOUR, eventsMs: HOUR, everyMs: 60_000 };
  const made = testEngine({ retention, sweepEveryMs: HOUR });
  const { waybill, clock, claimOne } = made;
  const rule = { on_conflict: 'ignore', period: 'P2D', states: ['available', 'active', 'completed'] };
  const [{ job }, plain] = [await waybill.jobs.enqueue(request([1], rule)), await made.enqueue({ queue: 'plain' })];
  const { token } = await claimOne();
  const outcome = { kind: 'completed', result: 'done' } as const;
  await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome });
  await waybill.jobs.cancel(plain);
  await clock.advance(47 * HOUR);
  await expect(waybill.jobs.get(plain)).rejects.toMatchObject({ code: 'not_found' });
  expect(await waybill.jobs.enqueue(request([1], rule))).toMatchObject({ created: false, job: { result: 'done' } });
  expect((await waybill.health()).status).toBe('ok');
  await clock.advance(HOUR + 60_000);
  await expect(waybill.jobs.get(job.id)).rejects.toMatchObject({ code: 'not_found' });
  expect((await waybill.jobs.enqueue(request([1], rule))).created).toBe(true);
});

test('A16: a job whose rule does not name the state of its end is kept no longer than others', async () => {
  const { waybill, claimOne } = testEngine();
  const ends = async (rule: Record<string, unknown>) => {
    const { job } = await waybill.jobs.enqueue(request([rule['period'] ?? ''], rule));
    const { token } = await claimOne();
    const outcome = { kind: 'completed', result: null } as const;
    return (await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome })).nextAt;
  };
  expect(await ends({ period: 'P2D' })).toBeNull();
  expect(await ends({ states: ['completed'] })).toBeNull();
  expect(await ends({ period: 'P3D', states: ['completed'] })).not.toBeNull();
});

// fault: retention removes finished jobs long before the period of their keys is over
test('A16: guarantee 7: a period that came as period_ms holds to its end too', async () => {
  const HOUR = 3_600_000;
  const retention = { finishedMs: HOUR, deadMs: HOUR, eventsMs: HOUR, everyMs: 60_000 };
  const { waybill, clock, claimOne } = testEngine({ retention, sweepEveryMs: HOUR });
  const rule = { on_conflict: 'ignore', period_ms: 48 * HOUR + 1, states: ['available', 'active', 'completed'] };
  const { job } = await waybill.jobs.enqueue(request([1], rule));
  expect(job.spec.options).toEqual({ unique: { ...unique, ...rule, period: 'PT172800.001S' } });
  const { token } = await claimOne();
  await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: 'done' } });
  await clock.advance(48 * HOUR);
  expect(await waybill.jobs.enqueue(request([1], rule))).toMatchObject({ created: false, job: { id: job.id } });
  await clock.advance(60_000);
  expect((await waybill.jobs.enqueue(request([1], rule))).created).toBe(true);
});
