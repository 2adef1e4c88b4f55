import { expect, test } from 'vitest';
import { memoryBlobs } from '../testing/memory-blobs.ts';
import { memoryTransport } from '../testing/memory-transport.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';

test('A10: a node whose parents’ results cannot be read is put off, and the other jobs of its claim are not', async () => {
  const { store, setAway } = memoryBlobs();
  const { waybill, clock, claimOne } = testEngine({ blobs: { store, threshold: 1_000 } });
  const step = (name: string) => ({ type: `test.${name}`, name, args: [] });
  await waybill.workflows.create({ type: 'chain', name: 'two', steps: [step('a'), step('b')] });
  const { job, token } = await claimOne();
  const outcome = { kind: 'completed', result: 'x'.repeat(2_000) } as const;
  await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome });
  await waybill.jobs.enqueue({ type: 'test.plain', args: [] });

  setAway(true);
  const leases = await waybill.jobs.claim({ queues: ['default'], count: 10 });
  expect(leases.map((lease) => lease.job.type)).toEqual(['test.plain']);
  const { items } = await waybill.jobs.list({ filter: { types: ['test.b'] }, limit: 1 });
  expect(items[0]).toMatchObject({ state: 'retryable', outcome: 'snoozed', attempt: 0 });

  setAway(false);
  await clock.advance(11_000);
  expect(await claimOne()).toMatchObject({ job: { type: 'test.b' }, parentResults: [outcome.result] });
});

test.each(['poll', 'hints'])(
  'a job that was put off does not come with the repetition of its claim, over %s',
  async (way) => {
    const clock = new TestClock();
    const faults = [
      { method: 'reports.get', call: 1, when: 'before' } as const,
      { method: 'reports.get', call: 2, when: 'before' } as const,
    ];
    const { waybill, enqueue } = testEngine({
      clock,
      faults,
      ...(way === 'hints' && { transport: memoryTransport({ clock }) }),
    });
    const id = await enqueue();
    await waybill.jobs.claim({ queues: ['default'], leaseMs: 1_000 });
    await clock.advance(2_000);
    // In its second run it may have a checkpoint, which cannot be read just now.
    const call = { queues: ['default'], claimId: 'claim-000001' };
    const both = await Promise.all([waybill.jobs.claim(call), waybill.jobs.claim(call)]);
    expect(both).toEqual([[], []]);
    expect(await waybill.jobs.get(id)).toMatchObject({ state: 'retryable', outcome: 'snoozed', attempt: 1 });
    expect(await waybill.jobs.claim(call)).toEqual([]);
    await clock.advance(11_000);
    expect(await waybill.jobs.claim({ queues: ['default'] })).toMatchObject([{ job: { id, run: 3, attempt: 2 } }]);
  },
);

test('many jobs that lack something are put off at once, in the time of one read', async () => {
  const { waybill, clock, store } = testEngine();
  const request = { type: 'test.job', args: [] };
  await waybill.jobs.enqueueMany(Array.from({ length: 50 }, () => request));
  await waybill.jobs.claim({ queues: ['default'], count: 50, leaseMs: 1_000 });
  await clock.advance(2_000);
  const slow = async () => {
    await clock.sleep(100);
    throw new Error('connection refused');
  };
  Object.assign(store.reports, { get: slow });
  const claiming = waybill.jobs.claim({ queues: ['default'], count: 50, leaseMs: 3_000 });
  await clock.advance(500);
  expect(await claiming).toEqual([]);
  const { items } = await waybill.jobs.list({ filter: { states: ['retryable'] }, limit: 100 });
  expect(items).toHaveLength(50);
  expect(items.every(({ attempt }) => attempt === 1)).toBe(true);
});
