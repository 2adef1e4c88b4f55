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
