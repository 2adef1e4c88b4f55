import { engine, newJobId, silentLogger } from '@waybill/core';
import { memoryStore, TestClock } from '@waybill/core/testing';
import type { SQSHandler } from 'aws-lambda';
import { describe, expect, onTestFinished, test } from 'vitest';
import { translated } from '../event-bus/testing/bench.ts';
import { deliveryFailureHandler } from './delivery-failure-handler.ts';
import { dlqHandler } from './dlq-handler.ts';
import { delivered, messages } from './testing/delivered.ts';

function opened() {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const waybill = engine({ store, logger: silentLogger, maintenance: false });
  onTestFinished(() => waybill.close());
  const options = { open: async () => ({ store }), logger: silentLogger };
  const enqueue = async (over: object = {}) =>
    (await waybill.jobs.enqueue({ type: 'a.b', args: [], options: { queue: 'q', ...over } })).job.id;
  const hint = (job_id: string) => ({ job_id, queue: 'q', attempt: 0 });
  return { clock, store, waybill, options, enqueue, hint };
}

describe('a message in a redrive queue', () => {
  test('has a handler of SQS', () => {
    const handler: SQSHandler = dlqHandler(opened().options);
    expect(handler).toBeInstanceOf(Function);
  });

  test('ends its job as failed for good, under the ids of task and job', async () => {
    const { waybill, options, hint } = opened();
    const { id: jobId } = await waybill.workflows.create({
      nodes: [{ id: 'sum', type: 'a.b', args: [], options: { queue: 'q' } }],
    });
    const [row] = (await waybill.workflows.nodes(jobId)).items;
    expect(await dlqHandler(options)(messages([hint(row!.id)]))).toEqual({ batchItemFailures: [] });
    const failed = (await translated(waybill)).find(({ eventType }) => eventType === 'Task Failed')!;
    expect(failed.properties).toMatchObject({
      ...{ requestId: 'sum', jobId, rowId: row!.id },
      ...{ error: 'max retries exhausted, moved to DLQ', errorCategory: 'max-retries', source: 'dlq' },
    });
    expect((await waybill.workflows.get(jobId)).state).toBe('failed');
  });

  test.each([
    ['completed', { kind: 'completed', result: 1 }],
    ['discarded', { kind: 'discarded', error: { code: 'own', message: 'its own' } }],
  ] as const)('changes nothing where its job is %s', async (_, outcome) => {
    const { waybill, options, enqueue, hint } = opened();
    const id = await enqueue();
    const [lease] = await waybill.jobs.claim({ queues: ['q'] });
    const ended = await waybill.jobs.settle({ id, leaseToken: lease!.token, outcome });
    expect(await dlqHandler(options)(messages([hint(id)]))).toEqual({ batchItemFailures: [] });
    expect(await waybill.jobs.get(id)).toEqual(ended);
  });

  test('comes again while a worker holds its job', async () => {
    const { waybill, clock, options, enqueue, hint } = opened();
    const id = await enqueue();
    await waybill.jobs.claim({ queues: ['q'], leaseMs: 10_000 });
    const handler = dlqHandler(options);
    expect(await handler(messages([hint(id)]))).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
    await clock.advance(10_000);
    expect(await handler(messages([hint(id)]))).toEqual({ batchItemFailures: [] });
    expect((await waybill.jobs.get(id)).state).toBe('discarded');
  });

  test('of a foreign producer gets a row for its failure, under its own name, once', async () => {
    const { waybill, options } = opened();
    const handler = dlqHandler({ ...options, adopt: { queue: 'q' } });
    const message = messages([{ type: 'a.b', pages: 3 }, { requestId: 'scan-17' }]);
    await handler(message);
    await handler(message);
    const { items } = await waybill.jobs.list();
    expect(items).toMatchObject([{ type: 'a.b', state: 'discarded', spec: { args: [{ pages: 3 }] } }]);
  });

  test('that names no job, or one that is gone, is removed; one that fails does not keep the others', async () => {
    const { waybill, options, enqueue, hint } = opened();
    const id = await enqueue();
    const others = messages(['no json'], [hint(newJobId(0))], [hint(id)]);
    expect(await dlqHandler(options)(others)).toEqual({ batchItemFailures: [] });
    expect((await waybill.jobs.get(id)).state).toBe('discarded');
  });
});

describe('an event that was not delivered', () => {
  const attributes = { ERROR_MESSAGE: 'Rate exceeded', ERROR_CODE: 'X', RULE_ARN: 'arn:rule' };

  test('is told with its type, the key of its task, its moment and the reason', async () => {
    const { waybill, enqueue } = opened();
    await enqueue();
    const [event] = await translated(waybill);
    const told: object[] = [];
    const handler = deliveryFailureHandler({ notify: async (failure) => told.push(failure) });
    expect(await handler(messages([delivered(event!), attributes], ['no json']))).toEqual({ batchItemFailures: [] });
    expect(told).toMatchObject([
      {
        ...{ eventType: 'Task Pending', detailType: 'log-event', entityKey: event!.gsi1pk, at: event!.timestamp },
        ...{ messageId: 'm0', error: 'Rate exceeded', rule: 'arn:rule' },
      },
      { eventType: null, detailType: null, entityKey: null, at: null, messageId: 'm1', error: null },
    ]);
  });

  test('comes again when nobody could be told, and the others do not', async () => {
    let calls = 0;
    const handler = deliveryFailureHandler({
      logger: silentLogger,
      notify: async () => {
        calls += 1;
        if (calls === 1) throw new Error('away');
      },
    });
    expect(await handler(messages([{}], [{}]))).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
  });
});
