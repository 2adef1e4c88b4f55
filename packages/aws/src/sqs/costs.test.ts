import { engine } from '@waybill/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { canRun, useLocalDynamo } from '../dynamodb/testing/bench.ts';
import { Meter } from '../testing/meter.ts';
import { useLocalSqs } from './testing/bench.ts';

const JOBS = 20;
const COMPLETED = { kind: 'completed', result: { ok: true } } as const;
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe.skipIf(!canRun)('what jobs cost on DynamoDB over SQS, reminders included (skipped: needs Java 17)', () => {
  const { open, client } = useLocalDynamo();
  const local = useLocalSqs();

  /**
   * Today's figures, so that what makes it dearer does not go unseen. The goal is 8, and a lease that ends before the
   * first reminder misses it: the claim has to move the alarm. See docs/adr/0003-hints.md.
   */
  it.each([
    [30_000, 8.9],
    [60_000, 6.9],
  ])('with leases of %i ms, at most %f write units', async (leaseMs, most) => {
    const sqs = local();
    const meter = new Meter(client());
    const { store } = await open({ client: meter, clock: sqs.clock, ready: 'none' });
    const waybill = engine({ store, transport: await sqs.open(), maintenance: false });
    onTestFinished(() => waybill.close());
    const request = { type: 'email.send', args: ['x'.repeat(496)], options: { queue: 'mails' } };
    const enqueueAll = (count: number) =>
      Promise.all(Array.from({ length: count }, () => waybill.jobs.enqueue(request)));
    const ready = () => sqs.server.inspectQueue(`${sqs.prefix}-mails-default`)?.messages.ready.length ?? 0;
    // The first job of a process notes the queue, which is no job's cost.
    await enqueueAll(1);
    while (ready() < 1) await turn();
    await waybill.jobs.claim({ queues: ['mails'] });

    const insert = await meter.per(JOBS, () => enqueueAll(JOBS));
    while (ready() < JOBS) await turn();
    let leases = await waybill.jobs.claim({ queues: ['empty'] });
    const claim = await meter.per(JOBS, async () => {
      leases = await waybill.jobs.claim({ queues: ['mails'], count: JOBS, leaseMs });
    });
    expect(leases).toHaveLength(JOBS);
    const settle = await meter.per(JOBS, () =>
      Promise.all(
        leases.map(({ job: { id }, token }) => waybill.jobs.settle({ id, leaseToken: token, outcome: COMPLETED })),
      ),
    );
    const write = insert.write + claim.write + settle.write;
    const read = insert.read + claim.read + settle.read;
    const parts = [insert, claim, settle].map((use) => use.write.toFixed(2)).join(' + ');
    process.stdout.write(`lease ${leaseMs} ms: ${parts} = ${write.toFixed(2)} write units, ${read.toFixed(2)} read\n`);
    expect(write).toBeLessThanOrEqual(most);
    expect(read).toBeLessThanOrEqual(1);
  });
});
