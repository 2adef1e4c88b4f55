import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { type EngineOptions, engine, silentLogger, systemClock, type Waybill } from '@waybill/core';
import { memoryStore, memoryTransport } from '@waybill/core/testing';
import { type AnyTask, type Middleware, task, Worker } from '@waybill/worker';
import { test as base, expect, onTestFinished } from 'vitest';
import { instrument } from './instrument.ts';
import { Recorder } from './testing/recorder.ts';

/** Of the test that runs. */
let isLight = false;

/** Every test runs twice: with the SDK's tracer provider, and with the light one of the command. */
const test = (name: string, run: () => void | Promise<void>): void =>
  base.each(['SDK', 'light'])(`${name} (%s)`, (provider) => {
    isLight = provider === 'light';
    return run();
  });

/** An engine on the model store with everything instrumented, and a way to work on it. */
function instrumented({
  recorder = new Recorder({ isLight }),
  ...options
}: { recorder?: Recorder } & Partial<EngineOptions> = {}) {
  const own = instrument(recorder);
  const { transport, ...rest } = options;
  const waybill = own.port(
    engine({
      store: own.store(memoryStore()),
      ...(transport && { transport: own.transport(transport) }),
      observer: own.observer,
      logger: silentLogger,
      ...rest,
    }),
  );
  onTestFinished(() => waybill.close());
  const work = (tasks: readonly AnyTask[], middleware: readonly Middleware[] = [own.middleware]) => {
    const worker = new Worker({ jobs: waybill.jobs, tasks, middleware, logger: silentLogger }).start();
    onTestFinished(() => worker.stop());
    return worker;
  };
  return { recorder, own, waybill, work };
}

const mail = (run: () => unknown = () => 'sent') => task('mail.send', { queue: 'mail', run });
const aMail = { type: 'mail.send', args: [{ to: 'a' }], options: { queue: 'mail' } };

test('one trace goes from the producer through enqueue, claim and run to the settle', async () => {
  const { recorder, waybill, work } = instrumented();
  // Read before the first job of an engine, whoever enqueues it.
  await waybill.tenants.setLimits('other', { waiting: 10 });
  const tracer = recorder.tracerProvider.getTracer('shop');
  const { job } = await tracer.startActiveSpan('checkout', async (span) => {
    const answer = await waybill.jobs.enqueue(aMail);
    span.end();
    return answer;
  });
  work([mail()]);
  await recorder.ended('settle');
  await recorder.ended('store.apply');

  const { traceId } = recorder.one('checkout').spanContext();
  expect(recorder.one('store.records.list')).toMatchObject({
    parentSpanContext: undefined,
    attributes: { 'waybill.count': 1 },
  });
  expect(recorder.tree(traceId)).toEqual([
    'checkout',
    '  enqueue mail',
    '    claim mail',
    '    process mail',
    '      settle',
    '    store.apply',
    '    store.claim',
    '    store.insert',
  ]);
  const enqueue = recorder.one('enqueue mail');
  expect(job.spec.meta).toEqual({ traceparent: `00-${traceId}-${enqueue.spanContext().spanId}-01` });
  expect(enqueue).toMatchObject({
    kind: SpanKind.PRODUCER,
    attributes: {
      'messaging.system': 'waybill',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'mail',
      'waybill.job.type': 'mail.send',
      'waybill.job.id': job.id,
    },
  });
  expect(recorder.one('process mail')).toMatchObject({
    kind: SpanKind.CONSUMER,
    attributes: { 'messaging.operation.type': 'process', 'waybill.job.run': 1, 'waybill.outcome': 'completed' },
  });
  expect(recorder.one('settle')).toMatchObject({
    kind: SpanKind.CLIENT,
    attributes: { 'messaging.operation.type': 'settle', 'messaging.destination.name': 'mail' },
  });
  expect(recorder.one('store.insert').attributes).toEqual({
    'waybill.store.name': 'memory',
    'waybill.store.operation': 'insert',
    'waybill.count': 1,
  });
});

test('a hint is sent in the trace of its job', async () => {
  const { recorder, waybill, work } = instrumented({ transport: memoryTransport({ clock: systemClock }) });
  await waybill.jobs.enqueue(aMail);
  work([mail()]);
  await recorder.ended('settle');
  const { traceId } = recorder.one('enqueue mail').spanContext();
  expect(recorder.tree(traceId)).toEqual(expect.arrayContaining(['  transport.send', '  process mail', '    settle']));
  expect(recorder.named('transport.send')[0]!.attributes).toMatchObject({ 'waybill.count': 1 });
});

test('what a handler enqueues is a child of its run, and each retry is a run of its own under the producer', async () => {
  const { recorder, waybill, work } = instrumented();
  let runs = 0;
  const order = task('order.place', {
    run: async () => {
      runs += 1;
      if (runs === 1) throw new TypeError('The card number 4111-1111 was refused.');
      await waybill.jobs.enqueue(aMail);
    },
  });
  const retry = { max_attempts: 2, initial_interval_ms: 1 };
  await waybill.jobs.enqueue({ type: 'order.place', args: [], options: { retry } });
  work([order, mail()]);
  await recorder.ended('settle', 3);
  const { traceId } = recorder.one('enqueue default').spanContext();
  const tree = recorder.tree(traceId).filter((line) => !/store|claim/.test(line));
  const firstRun = ['  process default', '    settle'];
  const secondRun = ['  process default', '    enqueue mail', '      process mail', '        settle', '    settle'];
  expect([
    ['enqueue default', ...firstRun, ...secondRun],
    ['enqueue default', ...secondRun, ...firstRun],
  ]).toContainEqual(tree);
  const failed = recorder
    .named('process default')
    .find(({ attributes }) => attributes['waybill.outcome'] === 'failed')!;
  expect(failed.status.code).toBe(SpanStatusCode.ERROR);
  expect(failed.attributes['error.type']).toBe('TypeError');
  expect(
    JSON.stringify(recorder.spans.map(({ attributes, events, status }) => [attributes, events, status])),
  ).not.toContain('4111-1111');
});

test('the nodes of a workflow, nested ones and callbacks are children of what made it', async () => {
  const { recorder, waybill, work } = instrumented();
  await waybill.workflows.create({
    type: 'chain',
    steps: [aMail, { type: 'group', jobs: [aMail, { ...aMail, meta: { team: 'a' } }] }],
    callbacks: { on_success: aMail },
  });
  work([mail()]);
  await recorder.ended('settle', 4);
  const { traceId } = recorder.one('create workflow').spanContext();
  expect(recorder.tree(traceId).filter((line) => line === '  process mail')).toHaveLength(4);
  const { items } = await waybill.jobs.list();
  expect(items.map(({ spec }) => spec.meta).filter((meta) => meta['team'] === 'a')).toEqual([
    { team: 'a', traceparent: expect.stringContaining(traceId) },
  ]);
});

test('nodes of a graph, with their job apart or not, and nodes that join later are traced', async () => {
  const { recorder, waybill } = instrumented();
  const { id } = await waybill.workflows.create({
    type: 'dag',
    nodes: [
      { id: 'a', job: aMail },
      { id: 'b', depends_on: ['a'], ...aMail },
    ],
  });
  await waybill.workflows.addNodes(id, [{ id: 'c', depends_on: ['a'], ...aMail }]);
  const { items } = await waybill.workflows.nodes(id);
  const traceOf = (node: string) => String(items.find((one) => one.node === node)!.spec.meta['traceparent']);
  const { traceId } = recorder.one('create workflow').spanContext();
  expect(traceOf('a')).toContain(traceId);
  expect(traceOf('b')).toContain(traceId);
  expect(traceOf('c')).toContain(recorder.one('add nodes to workflow').spanContext().traceId);
});

test('a batch is one span, and has links to the traces that its jobs bring', async () => {
  const { recorder, waybill } = instrumented();
  const own = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const jobs = await waybill.jobs.enqueueMany([
    aMail,
    aMail,
    { ...aMail, meta: { traceparent: own, tracestate: 'x=1' } },
  ]);
  const span = recorder.one('enqueue mail');
  expect(span.attributes['messaging.batch.message_count']).toBe(3);
  expect(span.links.map(({ context }) => context.traceId)).toEqual(['a'.repeat(32)]);
  expect(jobs[2]!.spec.meta).toEqual({ traceparent: own, tracestate: 'x=1' });
  expect(jobs[0]!.spec.meta['traceparent']).toContain(span.spanContext().spanId);
  // One flush for two traces: no parent, and a link to each.
  const insert = recorder.one('store.insert');
  expect(insert.parentSpanContext).toBeUndefined();
  expect(insert.links.map(({ context }) => context.traceId)).toEqual([span.spanContext().traceId, 'a'.repeat(32)]);
  expect(insert.attributes['waybill.count']).toBe(3);

  const leases = await waybill.jobs.claim({ queues: ['mail'], count: 3 });
  expect(leases).toHaveLength(3);
  const claim = recorder.one('claim mail');
  expect(claim.links).toHaveLength(2);
  expect(claim.attributes).toMatchObject({ 'messaging.operation.type': 'receive', 'messaging.batch.message_count': 3 });
});

test('a claim that finds nothing has no span, and one that is refused has one', async () => {
  const { recorder, waybill } = instrumented();
  expect(await waybill.jobs.claim({ queues: ['mail'] })).toEqual([]);
  expect(recorder.spans).toEqual([]);
  await expect(waybill.jobs.claim({ queues: [] })).rejects.toThrow();
  expect(recorder.one('claim').attributes['error.type']).toBe('invalid_request');
});

test('a job that was enqueued without a trace runs in a new one', async () => {
  const { recorder, waybill, own, work } = instrumented();
  const plain: Waybill = { ...waybill };
  const { job } = await trace
    .getTracer('none')
    .startActiveSpan('none', () => plain.jobs.enqueue({ ...aMail, meta: { traceparent: 'nonsense' } }));
  expect(job.spec.meta).toEqual({ traceparent: 'nonsense' });
  expect(own.headers()).toEqual({});
  work([mail()]);
  await recorder.ended('settle');
  expect(recorder.one('process mail').parentSpanContext).toBeUndefined();
});

test('what is no request is refused by the engine as ever', async () => {
  const { recorder, waybill } = instrumented();
  await expect(waybill.jobs.enqueue(null as never)).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(waybill.jobs.enqueue({ ...aMail, meta: 5 as never })).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(waybill.jobs.enqueueMany(7 as never)).rejects.toThrow();
  await expect(waybill.workflows.create('chain')).rejects.toMatchObject({ code: 'invalid_request' });
  expect(recorder.named('create workflow')[0]!.status.code).toBe(SpanStatusCode.ERROR);
});

test('refuses an option that it does not know', () => {
  expect(() => instrument({ tracerprovider: undefined } as never)).toThrow(/tracerProvider/);
});

test('a processor that throws fails no job', async () => {
  const broken = {
    onStart: () => {
      throw new Error('broken start');
    },
    onEnd: () => {
      throw new Error('broken end');
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const recorder = new Recorder({ processors: [broken], isLight });
  const { waybill, work } = instrumented({ recorder });
  const { job } = await waybill.jobs.enqueue(aMail);
  const done = Promise.withResolvers<void>();
  work([mail(() => done.resolve())]);
  await done.promise;
  const controller = new AbortController();
  for await (const event of waybill.events.follow({ filter: { jobIds: [job.id] }, signal: controller.signal }))
    if (event.type === 'job.completed') controller.abort();
  expect((await waybill.jobs.get(job.id)).state).toBe('completed');
});

test('a job whose producer was not sampled has no span, and neither has what its handler enqueues', async () => {
  const { recorder, waybill, work } = instrumented();
  const unsampled = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`;
  const second = Promise.withResolvers<unknown>();
  const first = task('order.place', { run: () => waybill.jobs.enqueue(aMail) });
  work([
    first,
    task('mail.send', { queue: 'mail', run: (_, { job }) => second.resolve(job.spec.meta['traceparent']) }),
  ]);
  await waybill.jobs.enqueueMany([{ type: 'order.place', args: [], meta: { traceparent: unsampled } }]);
  expect(await second.promise).toMatch(new RegExp(`^00-${'a'.repeat(32)}-[0-9a-f]{16}-00$`));
  expect(recorder.spans.filter((span) => span.spanContext().traceId === 'a'.repeat(32))).toEqual([]);
  // Metrics count them all the same.
  expect(await recorder.metric('waybill.jobs.dequeued.total')).toEqual({
    '{"queue":"default"}': 1,
    '{"queue":"mail"}': 1,
  });
});

test('without a registered tracer there are metrics and no trace, and one that is registered later counts', async () => {
  const recorder = new Recorder({ isLight });
  const own = instrument({ meterProvider: recorder.meterProvider });
  const waybill = own.port(
    engine({ store: own.store(memoryStore()), observer: own.observer, logger: silentLogger, maintenance: false }),
  );
  onTestFinished(() => waybill.close());
  /** What is active in the handler of one job, when the job is settled. */
  const runOne = async (): Promise<unknown> => {
    const ended = Promise.withResolvers<unknown>();
    const tasks = [mail(() => ended.resolve(trace.getActiveSpan()))];
    const worker = new Worker({ jobs: waybill.jobs, tasks, middleware: [own.middleware], logger: silentLogger });
    worker.start();
    const active = await ended.promise;
    await worker.stop();
    return active;
  };

  const { job } = await waybill.jobs.enqueue(aMail);
  expect(job.spec.meta).toEqual({});
  expect(await runOne()).toBeUndefined();

  trace.setGlobalTracerProvider(recorder.tracerProvider);
  onTestFinished(() => trace.disable());
  await waybill.jobs.enqueue(aMail);
  expect(await runOne()).toBeDefined();
  expect(recorder.spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['enqueue mail', 'store.insert', 'claim mail', 'process mail', 'settle']),
  );
  expect(recorder.named('process mail')).toHaveLength(1);
  expect(await recorder.metric('waybill.job.run.duration')).toEqual({
    '{"queue":"mail","type":"mail.send","outcome":"completed"}': 2,
  });
});

test('the settle of a job that runs in another trace than its caller has a link to it', async () => {
  const { recorder, waybill } = instrumented();
  await waybill.jobs.enqueue(aMail);
  const [lease] = await waybill.jobs.claim({ queues: ['mail'] });
  const { id, spec } = lease!.job;
  const settle = { id, leaseToken: lease!.token, outcome: { kind: 'completed', result: null } } as const;
  await recorder.tracerProvider.getTracer('shop').startActiveSpan('elsewhere', async (span) => {
    await waybill.jobs.settle(settle);
    await expect(waybill.jobs.settle({ ...settle, id: 'nowhere' })).rejects.toThrow();
    span.end();
  });
  const [good, bad] = recorder.named('settle');
  const elsewhere = recorder.one('elsewhere').spanContext();
  expect([good!, bad!].map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([
    elsewhere.spanId,
    elsewhere.spanId,
  ]);
  expect(good!.links.map(({ context }) => context.traceId)).toEqual([String(spec.meta['traceparent']).split('-')[1]]);
  expect(good!.status.code).toBe(SpanStatusCode.UNSET);
  expect(bad!.status.code).toBe(SpanStatusCode.ERROR);
  expect(bad!.attributes['waybill.job.id']).toBe('nowhere');
});
