import { describe, expect, it } from 'vitest';
import { testEngine } from '../testing/index.ts';

async function started() {
  const { waybill, clock } = testEngine();
  await waybill.jobs.enqueue({ type: 'a.b', args: [], options: { retry: { max_attempts: 2 } } });
  const [lease] = await waybill.jobs.claim({ queues: ['default'], workerId: 'w1', leaseMs: 30_000 });
  return { waybill, clock, lease: lease!, id: lease!.job.id };
}

describe('reports', () => {
  it('prolong the lease as a heartbeat does', async () => {
    const { waybill, clock, lease, id } = await started();
    for (const fraction of [0.1, 0.2, 0.3]) {
      await clock.advance(20_000);
      await waybill.jobs.report({ id, leaseToken: lease.token, fraction });
    }
    expect(await waybill.jobs.get(id)).toMatchObject({ state: 'active', run: 1, leaseUntil: clock.now() + 30_000 });
    expect(await waybill.jobs.progress(id)).toMatchObject({ fraction: 0.3, sequence: 3 });
  });

  // fault: the lease runs out and another claim starts the next run
  it('guarantee 3: a stale token is refused and changes nothing', async () => {
    const { waybill, clock, lease, id } = await started();
    await clock.advance(31_000);
    const [next] = await waybill.jobs.claim({ queues: ['default'] });
    expect(next!.job).toMatchObject({ id, run: 2 });
    const late = waybill.jobs.report({ id, leaseToken: lease.token, fraction: 0.9 });
    await expect(late).rejects.toMatchObject({ code: 'lease_lost' });
    await expect(waybill.jobs.report({ id, workerId: 'w1', fraction: 0.9 })).rejects.toMatchObject({
      code: 'lease_lost',
    });
    expect(await waybill.jobs.progress(id)).toBeNull();
  });

  it('without a token the state decides', async () => {
    const { waybill, lease, id } = await started();
    await waybill.jobs.report({ id, fraction: 0.5 });
    await waybill.jobs.settle({ id, leaseToken: lease.token, outcome: { kind: 'completed', result: null } });
    await expect(waybill.jobs.report({ id, fraction: 0.6 })).rejects.toMatchObject({ code: 'conflict' });
    expect(await waybill.jobs.progress(id)).toMatchObject({ fraction: 0.5 });
  });

  it('hand their checkpoint to the next run and to no first one', async () => {
    const { waybill, clock, lease, id } = await started();
    expect(lease.checkpoint).toBeUndefined();
    await waybill.jobs.report({ id, leaseToken: lease.token, checkpoint: { row: 7 } });
    await clock.advance(31_000);
    const [next] = await waybill.jobs.claim({ queues: ['default'] });
    expect(next!.checkpoint).toEqual({ row: 7 });
  });

  it.each([
    ['nothing at all', {}, 'progress'],
    ['no number', { fraction: Number.NaN }, 'progress'],
    ['a count that is none', { fraction: 1, number: 0 }, 'number'],
    ['too much data', { data: { text: 'x'.repeat(20_000) } }, 'data'],
    ['too large a checkpoint', { checkpoint: { text: 'x'.repeat(300_000) } }, 'checkpoint'],
  ])('refuse %s', async (_, report, field) => {
    const { waybill, lease, id } = await started();
    const refused = waybill.jobs.report({ id, leaseToken: lease.token, ...report });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', details: { field } });
    expect(await waybill.jobs.progress(id)).toBeNull();
  });

  it('of an unknown job are refused, and so is the question after it', async () => {
    const { waybill } = testEngine();
    const id = '01900000-0000-7000-8000-000000000000';
    await expect(waybill.jobs.report({ id, fraction: 1 })).rejects.toMatchObject({ code: 'not_found' });
    await expect(waybill.jobs.progress(id)).rejects.toMatchObject({ code: 'not_found' });
  });
});
