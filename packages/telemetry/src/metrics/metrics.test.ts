import { engine, silentLogger } from '@waybill/core';
import { memoryStore, TestClock } from '@waybill/core/testing';
import { task, Worker } from '@waybill/worker';
import { expect, onTestFinished, test } from 'vitest';
import { instrument } from '../instrument.ts';
import { Recorder } from '../testing/recorder.ts';
import { METRICS } from './metrics-table.ts';

function instrumented(options: { tenants?: boolean } = {}) {
  const recorder = new Recorder();
  const { tracerProvider, meterProvider } = recorder;
  const own = instrument({ tracerProvider, meterProvider, ...options });
  const clock = new TestClock();
  const store = own.store(memoryStore({ clock }));
  const waybill = engine({ store, observer: own.observer, logger: silentLogger, maintenance: false });
  onTestFinished(() => waybill.close());
  return { recorder, own, waybill, clock };
}

const job = (queue: string) => ({ type: 'a.b', args: [], options: { queue } });

test('counts jobs that are made, claimed, prolonged and ended', async () => {
  const { recorder, waybill, clock } = instrumented();
  await waybill.jobs.enqueueMany([job('mail'), job('mail'), job('bulk')]);
  await clock.advance(5_000);
  const leases = await waybill.jobs.claim({ queues: ['mail', 'bulk'], count: 3, workerId: 'w' });
  await waybill.jobs.heartbeat({
    workerId: 'w',
    jobs: leases.map(({ job: { id }, token }) => ({ id, leaseToken: token })),
  });
  const [first, second, third] = leases;
  const settle = (lease: typeof first, outcome: Parameters<typeof waybill.jobs.settle>[0]['outcome']) =>
    waybill.jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome });
  await settle(first, { kind: 'completed', result: null });
  await settle(second, { kind: 'failed', error: { code: 'x', message: 'x' } });
  await settle(third, { kind: 'discarded', error: { code: 'x', message: 'x' }, deadLetter: true });
  expect(await recorder.metric('waybill.jobs.enqueued.total')).toEqual({
    '{"queue":"mail"}': 2,
    '{"queue":"bulk"}': 1,
  });
  expect(await recorder.metric('waybill.jobs.dequeued.total')).toEqual({
    '{"queue":"mail"}': 2,
    '{"queue":"bulk"}': 1,
  });
  expect(await recorder.metric('waybill.job.wait.duration')).toEqual({ '{"queue":"mail"}': 2, '{"queue":"bulk"}': 1 });
  expect(await recorder.metric('waybill.jobs.visibility_updates.total')).toEqual({ '{}': 3 });
  expect(await recorder.metric('waybill.jobs.completed.total')).toEqual({
    '{"queue":"mail","state":"completed"}': 1,
    '{"queue":"bulk","state":"discarded"}': 1,
  });
  expect(await recorder.metric('waybill.jobs.retried.total')).toEqual({ '{"queue":"mail"}': 1 });
  expect(await recorder.metric('waybill.dead_letters.total')).toEqual({ '{"queue":"bulk"}': 1 });
  const calls = await recorder.metric('waybill.store.operation.duration');
  expect(calls['{"store":"memory","operation":"insert"}']).toBe(1);
});

test('names tenants only where that was asked for', async () => {
  const { recorder, waybill } = instrumented({ tenants: true });
  await waybill.jobs.enqueue(job('mail'), { tenant: 'acme' });
  expect(await recorder.metric('waybill.jobs.enqueued.total')).toEqual({ '{"queue":"mail","tenant":"acme"}': 1 });
});

test('queues beyond the first two hundred are counted together', async () => {
  const { recorder, waybill } = instrumented();
  await waybill.jobs.enqueueMany(Array.from({ length: 250 }, (_, index) => job(`q${index}`)));
  const found = await recorder.metric('waybill.jobs.enqueued.total');
  expect(Object.keys(found)).toHaveLength(201);
  expect(found['{"queue":"other"}']).toBe(50);
});

test('gauges show what is in the store, read when they are asked for', async () => {
  const { recorder, own, waybill } = instrumented();
  await waybill.jobs.enqueueMany([job('mail'), job('mail')]);
  const [lease] = await waybill.jobs.claim({ queues: ['mail'], workerId: 'w' });
  let reads = 0;
  const list: typeof waybill.queues.list = (context) => {
    reads += 1;
    return waybill.queues.list(context);
  };
  const watching = own.watch({ ...waybill, queues: { ...waybill.queues, list } });
  expect(reads).toBe(0);
  const depth = await recorder.metric('waybill.queue.depth');
  expect(depth['{"queue":"mail","state":"available"}']).toBe(1);
  expect(depth['{"queue":"mail","state":"active"}']).toBe(1);
  expect(Object.keys(await recorder.metric('waybill.queue.oldest_age'))).toEqual(['{"queue":"mail"}']);
  expect(await recorder.metric('waybill.dead_letters')).toEqual({ '{}': 0 });
  // Not read again so soon.
  await waybill.jobs.settle({
    id: lease!.job.id,
    leaseToken: lease!.token,
    outcome: { kind: 'completed', result: null },
  });
  expect((await recorder.metric('waybill.queue.depth'))['{"queue":"mail","state":"active"}']).toBe(1);
  expect(reads).toBe(1);
  watching.stop();
});

test('gauges cover all tenants: summed, or each with its name where that was asked for', async () => {
  for (const tenants of [false, true]) {
    const { recorder, own, waybill } = instrumented({ tenants });
    for (const tenant of ['', 'acme', 'umbrella']) {
      await waybill.jobs.enqueueMany([job('mail'), job('mail')], { tenant });
      const [lease] = await waybill.jobs.claim({ queues: ['mail'], workerId: tenant || 'w', tenant });
      const outcome = { kind: 'discarded', error: { code: 'x', message: 'x' }, deadLetter: true } as const;
      await waybill.jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome, tenant });
    }
    const watching = own.watch(waybill);
    const depth = await recorder.metric('waybill.queue.depth');
    const dead = await recorder.metric('waybill.dead_letters');
    if (tenants) {
      expect(depth['{"queue":"mail","tenant":"acme","state":"available"}']).toBe(1);
      expect(dead).toEqual({ '{"tenant":""}': 1, '{"tenant":"acme"}': 1, '{"tenant":"umbrella"}': 1 });
    } else {
      expect(depth['{"queue":"mail","state":"available"}']).toBe(3);
      expect(dead).toEqual({ '{}': 3 });
    }
    expect(Object.keys(await recorder.metric('waybill.queue.oldest_age'))).toHaveLength(tenants ? 3 : 1);
    expect(await recorder.metric('waybill.sinks.paused')).toEqual({ '{}': 0 });
    watching.stop();
  }
});

test('a port that may not list tenants is watched for its own', async () => {
  const { recorder, own, waybill } = instrumented({ tenants: true });
  await waybill.jobs.enqueue(job('mail'));
  const forbidden = Object.assign(new Error('Only operators may list tenants.'), { code: 'forbidden' });
  const list: typeof waybill.tenants.list = () => Promise.reject(forbidden);
  const narrow = own.watch({ ...waybill, tenants: { ...waybill.tenants, list } });
  expect(await recorder.metric('waybill.dead_letters')).toEqual({ '{"tenant":""}': 0 });
  narrow.stop();
});

test('a sink that was paused after long failure is counted', async () => {
  const { recorder, own, waybill, clock } = instrumented();
  const deliver = () => Promise.reject(new Error('no'));
  const paused = Promise.withResolvers<void>();
  waybill.sinks!.run(
    { list: async () => [{ tenant: 'acme', id: 'one', filter: {}, deliver }] },
    { pauseAfterMs: 1, observe: (_, call) => call().finally(() => paused.resolve()) },
  );
  await clock.advance(0);
  await waybill.jobs.enqueue(job('mail'), { tenant: 'acme' });
  await paused.promise;
  const health = async () => (await waybill.health()).sinks ?? [];
  while ((await health())[0]?.status !== 'paused') await clock.advance(1_000);
  const watching = own.watch(waybill);
  expect(await recorder.metric('waybill.sinks.paused')).toEqual({ '{}': 1 });
  watching.stop();
});

test('a worker tells how busy it is and how long its runs take', async () => {
  const { recorder, own, waybill, clock } = instrumented();
  const started = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  const handler = task('a.b', {
    run: async () => {
      started.resolve();
      await free.promise;
    },
  });
  await waybill.jobs.enqueue(job('default'));
  const worker = new Worker({
    ...{ jobs: waybill.jobs, tasks: [handler], concurrency: 4, clock, logger: silentLogger },
    middleware: [own.middleware],
  }).start();
  await started.promise;
  expect(await recorder.metric('waybill.worker.utilisation')).toEqual({ '{}': 0.25 });
  free.resolve();
  await worker.drain();
  expect(await recorder.metric('waybill.job.run.duration')).toEqual({
    '{"queue":"default","type":"a.b","outcome":"completed"}': 1,
  });
});

test('a lease that ran out is counted, and how late the sweep was', async () => {
  const recorder = new Recorder();
  const own = instrument(recorder);
  const clock = new TestClock();
  const waybill = engine({ store: memoryStore({ clock }), observer: own.observer, logger: silentLogger });
  onTestFinished(() => waybill.close());
  await waybill.jobs.enqueue(job('mail'));
  await waybill.jobs.claim({ queues: ['mail'], leaseMs: 1_000 });
  await clock.advance(2_000);
  expect(await recorder.metric('waybill.leases.lost.total')).toEqual({ '{"queue":"mail"}': 1 });
  expect(Object.keys(await recorder.metric('waybill.sweep.lag'))).toEqual(['{}']);
});

test('DynamoDB has instruments of its own', async () => {
  const { recorder, own } = instrumented();
  own.aws.operation?.('PutItem');
  own.aws.throttled?.('PutItem');
  own.aws.batchRetried?.('BatchGetItem');
  expect(await recorder.metric('waybill.dynamodb.operations.total')).toEqual({ '{"operation":"PutItem"}': 1 });
  expect(await recorder.metric('waybill.dynamodb.throttles.total')).toEqual({ '{"operation":"PutItem"}': 1 });
  expect(await recorder.metric('waybill.dynamodb.batch_retries.total')).toEqual({ '{"operation":"BatchGetItem"}': 1 });
});

test('every metric has a name of its own under waybill, and no job id among its attributes', () => {
  expect(new Set(METRICS.map(({ name }) => name)).size).toBe(METRICS.length);
  for (const { name, attributes } of METRICS) {
    expect(name).toMatch(/^waybill(\.[a-z_]+)+$/);
    expect(attributes.filter((attribute) => /id|tenant/.test(attribute))).toEqual([]);
  }
});
