import { testEngine } from '@waybill/core/testing';
import { task } from '@waybill/worker';
import { describe, expect, it } from 'vitest';
import { connectionTo } from './connect.ts';
import { embedded, overHttp } from './testing/open-connection.ts';

const count = task('count.one', { run: () => 1 });
const REFUSAL = {
  code: 'unsupported',
  message: expect.stringContaining("the queue 'clicks' keeps nothing of jobs that complete"),
  details: { queue: 'clicks' },
  hint: expect.stringContaining('waybill queues keep clicks all'),
};

describe.each([
  ['embedded', embedded],
  ['over HTTP', overHttp],
])('A7: waiting on a queue that keeps nothing, %s', (_, open) => {
  it('A7: is refused at once, whether the job still lives or is gone', async () => {
    const waybill = await open();
    await waybill.queues.setKeep('clicks', 'none');
    const job = await waybill.enqueue(count, undefined, { queue: 'clicks' });
    await expect(waybill.wait(job)).rejects.toMatchObject(REFUSAL);
    await expect(waybill.wait(job.id)).rejects.toMatchObject(REFUSAL);
    const [lease] = await waybill.jobs.claim({ queues: ['clicks'] });
    const outcome = { kind: 'completed', result: 1 } as const;
    await waybill.jobs.settle({ id: job.id, leaseToken: lease!.token, outcome });
    await expect(waybill.wait(job)).rejects.toMatchObject(REFUSAL);
    await expect(waybill.wait(job.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('A7: answers for what such a queue does keep', async () => {
    const waybill = await open();
    await waybill.queues.setKeep('clicks', 'none');
    const cancelled = await waybill.enqueue(count, undefined, { queue: 'clicks' });
    await waybill.jobs.cancel(cancelled.id);
    await expect(waybill.wait(cancelled)).rejects.toMatchObject({ code: 'conflict' });
    waybill.work([count], { queues: ['clicks'] });
    const step = { name: 'a', type: 'count.one', args: [], options: { queue: 'clicks' } };
    const { id } = await waybill.workflows.create({ type: 'chain', name: 'one', steps: [step] });
    const { items } = await waybill.workflows.nodes(id, { limit: 1 });
    expect(await waybill.wait(items[0]!.id)).toBe(1);
  });
});

// fault: the queue is told to keep nothing while somebody waits for one of its jobs, which then ends without an event
it('A7: a wait does not hang when its queue stops to keep jobs meanwhile', async () => {
  const { waybill: port, clock, enqueue, claimOne } = testEngine();
  const waybill = connectionTo(port, { clock });
  const id = await enqueue();
  const waiting = expect(waybill.wait(id)).rejects.toMatchObject({ code: 'unsupported' });
  await clock.advance(2_000);
  await waybill.queues.setKeep('default', 'none');
  const { token } = await claimOne();
  await waybill.jobs.settle({ id, leaseToken: token, outcome: { kind: 'completed', result: 1 } });
  await clock.advance(60_000);
  await waiting;
});
