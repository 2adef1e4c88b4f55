import { expect, test } from 'vitest';
import { memoryStore } from '../store/memory/memory-store.ts';
import { memoryTransport } from '../testing/memory-transport.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import type { Delivery, Transport } from '../transport/transport.ts';

/** An engine on a transport that delivers messages, with a record of what was done to them. */
function onMessages() {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const inner = memoryTransport({ clock });
  const acked: string[] = [];
  const extended: number[] = [];
  const transport: Transport = {
    ...inner,
    ack: async (delivery: Delivery) => {
      const [row] = await store.get([{ tenant: delivery.tenant, id: delivery.jobId }]);
      acked.push(row?.state ?? 'unknown');
      await inner.ack(delivery);
    },
    extend: async (delivery: Delivery, ms: number) => {
      extended.push(ms);
      await inner.extend(delivery, ms);
    },
  };
  return { ...testEngine({ on: store, clock, transport }), transport, acked, extended };
}

const hint = (jobId: string) => ({
  tenant: '',
  jobId,
  queue: 'default',
  type: 'test.job',
  priority: 0,
  attempt: 0,
  delayMs: 0,
});
const done = { kind: 'completed', result: null } as const;

// fault: none, the rule itself
test('guarantee 6: a message is deleted after its row was settled, by whoever settles', async () => {
  const { waybill, enqueue, claimOne, acked } = onMessages();
  const id = await enqueue();
  const { token } = await claimOne();
  expect(acked).toEqual([]);
  await waybill.jobs.settle({ id, leaseToken: token, outcome: done });
  expect(acked).toEqual(['completed']);
});

// fault: the hint is sent three times, and again after the job has ended
test('guarantee 5: doubled and late hints are harmless', async () => {
  const { waybill, enqueue, claimOne, transport, acked } = onMessages();
  const id = await enqueue();
  await transport.send([hint(id), hint(id)]);
  const { token } = await claimOne();
  expect(await waybill.jobs.claim({ queues: ['default'], count: 10 })).toEqual([]);
  await waybill.jobs.settle({ id, leaseToken: token, outcome: done });
  await transport.send([hint(id)]);
  expect(await waybill.jobs.claim({ queues: ['default'], count: 10 })).toEqual([]);
  expect(acked).toEqual(['active', 'active', 'completed', 'completed']);
});

// fault: hints arrive for jobs that are scheduled, cancelled or unknown
test('guarantee 6: hints of unknown, finished and waiting jobs are dropped, their rows bring them back', async () => {
  const { waybill, enqueue, transport, acked } = onMessages();
  const later = await enqueue({ scheduled_at: '+PT1H' });
  const gone = await enqueue({ pending: true });
  await waybill.jobs.cancel(gone);
  await transport.send([hint(later), hint(gone), hint('019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f')]);
  expect(await waybill.jobs.claim({ queues: ['default'], count: 10 })).toEqual([]);
  expect(acked.sort()).toEqual(['cancelled', 'scheduled', 'unknown']);
});

// fault: a message in one queue names a job of another
test('B9: a hint that names a job of another queue is dropped, and the job is left to its own queue', async () => {
  const { waybill, enqueue, transport, acked } = onMessages();
  const id = await enqueue({ queue: 'payments' });
  await transport.send([hint(id)]);
  expect(await waybill.jobs.claim({ queues: ['default'], count: 10 })).toEqual([]);
  expect(acked).toEqual(['available']);
  expect(await waybill.jobs.claim({ queues: ['payments'] })).toMatchObject([{ job: { id, run: 1 } }]);
});

test('a heartbeat keeps the message hidden as long as the lease', async () => {
  const { waybill, enqueue, claimOne, extended } = onMessages();
  const id = await enqueue();
  const { token } = await claimOne({ workerId: 'one', leaseMs: 5_000 });
  await waybill.jobs.heartbeat({ workerId: 'one', jobs: [{ id, leaseToken: token }] });
  expect(extended).toEqual([5_000]);
});

test('a job with a lease of its own keeps its message hidden as long', async () => {
  const { enqueue, claimOne, extended } = onMessages();
  await enqueue({ visibility_timeout_ms: 90_000 });
  await claimOne({ leaseMs: 5_000 });
  expect(extended).toEqual([90_000]);
});

// fault: the same call is made again, after another hint came
test('guarantee 10: the same claim id answers the same jobs, whatever hints have come since', async () => {
  const { waybill, enqueue } = onMessages();
  await enqueue();
  const call = { queues: ['default'], claimId: 'claim-0001' };
  const first = await waybill.jobs.claim(call);
  await enqueue();
  expect(await waybill.jobs.claim(call)).toEqual(first);
  expect(first).toHaveLength(1);
});

// fault: the message cannot be deleted
test('guarantee 6: a message whose deletion fails does not undo the settle', async () => {
  const { waybill, enqueue, claimOne, transport } = onMessages();
  const id = await enqueue();
  const { token } = await claimOne();
  transport.ack = () => Promise.reject(new Error('the queue is away'));
  expect(await waybill.jobs.settle({ id, leaseToken: token, outcome: done })).toMatchObject({ state: 'completed' });
});
