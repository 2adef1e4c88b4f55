import { context, metrics, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { remote } from '@waybill/client/http';
import { newJobId, silentLogger, type Waybill } from '@waybill/core';
import { createApp, serve } from '@waybill/server';
import { type Instrumentation, instrument } from '@waybill/telemetry';
import { Recorder } from '@waybill/telemetry/testing';
import { type TaskContext, task } from '@waybill/worker';
import { expect, onTestFinished, test } from 'vitest';
import { type Connection, connect } from './connect.ts';
import type { ConnectOptions } from './connect-options.ts';

async function connected(url: string, options: ConnectOptions): Promise<Connection> {
  const waybill = await connect(url, { logger: silentLogger, ...options });
  onTestFinished(() => waybill.close());
  return waybill;
}

const SQLITE = 'sqlite::memory:';
const aJob = { type: 'hello.say', args: [] };

/** A server on a port of its own, whose engine and requests are instrumented. */
async function served(telemetry?: Instrumentation): Promise<{ url: string; engine: Connection }> {
  const engine = await connected(SQLITE, telemetry ? { telemetry } : {});
  const observed = telemetry && { observeRequest: telemetry.request };
  const server = await serve(createApp({ waybill: engine, version: 'test', ...observed }), { port: 0, graceMs: 100 });
  onTestFinished(() => server.close());
  return { url: server.url, engine };
}

test('a producer and a worker on SQLite share one trace, and the handler runs inside of its span', async () => {
  const recorder = new Recorder();
  const waybill = await connected(SQLITE, { telemetry: instrument(recorder) });
  let seen: string | undefined;
  const hello = task('hello.say', {
    run: () => {
      seen = trace.getActiveSpan()?.spanContext().spanId;
    },
  });
  waybill.work([hello]);
  await waybill.wait(await waybill.enqueue(hello));
  await recorder.ended('settle');
  const { traceId } = recorder.one('enqueue default').spanContext();
  const tree = recorder.tree(traceId);
  expect(tree).toEqual(
    expect.arrayContaining(['enqueue default', '  claim default', '  process default', '    settle']),
  );
  expect(recorder.one('process default').spanContext().spanId).toBe(seen);
  expect(recorder.one('process default').attributes['waybill.outcome']).toBe('completed');
  expect(await recorder.metric('waybill.jobs.completed.total')).toEqual({
    '{"queue":"default","state":"completed"}': 1,
  });
});

/** Before its first job an engine reads the limits of tenants, once. */
const readLimits = ({ jobs }: Pick<Waybill, 'jobs'>) =>
  jobs.enqueue({ type: 'other', args: [], options: { queue: 'other' } });

test('over HTTP the trace goes from the producer through the server to the worker and back', async () => {
  const recorder = new Recorder();
  const own = instrument(recorder);
  const { url, engine } = await served(own);
  await readLimits(engine);
  recorder.reset();
  const waybill = await connected(url, { telemetry: own });
  const hello = task('hello.say', { run: () => {} });
  await recorder.tracerProvider.getTracer('shop').startActiveSpan('checkout', async (span) => {
    await waybill.enqueue(hello);
    span.end();
  });
  waybill.work([hello]);
  await recorder.ended('POST /ojs/v1/workers/ack');
  await recorder.ended('settle', 2);
  const { traceId } = recorder.one('checkout').spanContext();
  expect(recorder.tree(traceId)).toEqual([
    'checkout',
    '  enqueue default',
    '    POST /ojs/v1/jobs',
    '      enqueue default',
    // One where the worker waits for its answer, one where the server gives it.
    '    claim default',
    '    claim default',
    '    process default',
    '      settle',
    '        POST /ojs/v1/workers/ack',
    '          settle',
    '    store.apply',
    '    store.claim',
    '    store.insert',
  ]);
  expect(recorder.one('POST /ojs/v1/jobs').attributes).toEqual({
    'http.request.method': 'POST',
    'http.response.status_code': 201,
    'http.route': '/ojs/v1/jobs',
  });
  const times = await recorder.metric('waybill.http.request.duration');
  expect(times['{"method":"POST","route":"/ojs/v1/jobs","status":201}']).toBe(1);
});

test('a server goes on with the trace of a plain request, and notes it in the job', async () => {
  const recorder = new Recorder();
  const { url, engine } = await served(instrument(recorder));
  const [traceId, spanId] = ['c'.repeat(32), 'd'.repeat(16)];
  const headers = { traceparent: `00-${traceId}-${spanId}-01`, 'content-type': 'application/openjobspec+json' };
  const answer = await fetch(`${url}/ojs/v1/jobs`, { method: 'POST', headers, body: JSON.stringify(aJob) });
  expect(answer.status).toBe(201);
  const [job] = (await engine.jobs.list()).items;
  expect(job!.spec.meta['traceparent']).toContain(traceId);
  expect(recorder.one('POST /ojs/v1/jobs').parentSpanContext?.spanId).toBe(spanId);

  await fetch(`${url}/nowhere/${'x'.repeat(20)}`);
  const times = await recorder.metric('waybill.http.request.duration');
  expect(times['{"method":"GET","route":"none","status":404}']).toBe(1);
});

test('a job under an id of the caller is known again although the server has noted a trace in it', async () => {
  const recorder = new Recorder();
  const { url, engine } = await served(instrument(recorder));
  let sent = 0;
  const waybill = remote(url, {
    sleep: async () => {},
    fetch: async (address, init) => {
      const answer = await fetch(address, init);
      sent += 1;
      if (sent === 1) throw new TypeError('fetch failed');
      return answer;
    },
  });
  onTestFinished(() => waybill.close());
  const id = newJobId(Date.now());
  expect(await waybill.jobs.enqueue({ ...aJob, id, meta: { team: 'a' } })).toMatchObject({
    created: true,
    job: { id },
  });
  expect(sent).toBe(3);
  expect(Object.keys((await engine.jobs.get(id)).spec.meta).sort()).toEqual(['team', 'traceparent']);
});

/** Counts every call of the API that reaches what a process has registered. */
function countingApi(): string[] {
  const calls: string[] = [];
  const provider = new TracerProvider();
  const tracer = provider.getTracer('counted');
  trace.setGlobalTracerProvider({
    getTracer: () => ({
      startSpan: (name, ...rest) => {
        calls.push(`span ${name}`);
        return tracer.startSpan(name, ...rest);
      },
      startActiveSpan: (() => calls.push('startActiveSpan')) as never,
    }),
  });
  const recording = (name: string) => ({
    add: () => calls.push(`add ${name}`),
    record: () => calls.push(`record ${name}`),
    // Of gauges: called when metrics are read, and at no other time.
    addCallback: () => {},
  });
  const meter = new Proxy(
    {},
    { get: (_, kind) => (name: string) => (String(kind).startsWith('create') ? recording(name) : undefined) },
  );
  metrics.setGlobalMeterProvider({ getMeter: () => meter as never });
  context.setGlobalContextManager({
    active: () => {
      calls.push('active');
      return ROOT_CONTEXT;
    },
    with: (_, work, self, ...args) => {
      calls.push('with');
      return work.call(self as never, ...args);
    },
    bind: (_, target) => target,
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  });
  onTestFinished(() => {
    trace.disable();
    metrics.disable();
    context.disable();
  });
  return calls;
}

/** One job from its producer to its end. */
async function lifeOf(waybill: Connection, run: (context: TaskContext) => unknown = () => {}): Promise<void> {
  const hello = task('hello.say', { run: (_, context) => void run(context) });
  await waybill.enqueue(hello);
  const worker = waybill.work([hello]);
  const following = new AbortController();
  for await (const event of waybill.events.follow({ signal: following.signal }))
    if (event.type === 'job.completed') following.abort();
  await worker.stop();
}

/** All ways in which a handler can say something. */
const speak = ({ output, emit, log }: TaskContext) => {
  output('line');
  void emit('step.done', { step: 1 });
  log('Said.');
};

test.each(['embedded', 'over HTTP'])('without telemetry no call of OpenTelemetry is made, %s', async (where) => {
  const calls = countingApi();
  const waybill =
    where === 'embedded' ? await connected(SQLITE, {}) : await connected((await served()).url, { telemetry: false });
  await lifeOf(waybill);
  await lifeOf(waybill, speak);
  expect(calls).toEqual([]);
});

test('with telemetry of the registered API exactly the expected spans and counts are made', async () => {
  const calls = countingApi();
  const waybill = await connected(SQLITE, { telemetry: true, engine: { maintenance: false } });
  await readLimits(waybill);
  calls.length = 0;
  await lifeOf(waybill);
  const made = (kind: string) =>
    calls.filter((call) => call.startsWith(kind)).filter((call) => !/store\.(events|workers)/.test(call));
  expect(made('span ').sort()).toEqual(
    ['enqueue default', 'store.insert', 'claim default', 'store.claim', 'process default', 'settle', 'store.apply']
      .map((name) => `span ${name}`)
      .sort(),
  );
  expect(made('add ').sort()).toEqual([
    'add waybill.jobs.completed.total',
    'add waybill.jobs.dequeued.total',
    'add waybill.jobs.enqueued.total',
  ]);
  const records = made('record ').filter((call) => !call.includes('store.operation'));
  expect(records.sort()).toEqual(['record waybill.job.run.duration', 'record waybill.job.wait.duration']);

  // What a handler says costs one call for each batch, and nothing for each entry.
  calls.length = 0;
  await lifeOf(waybill, speak);
  expect(made('span ').filter((call) => /publish|journal/.test(call))).toEqual([
    'span publish',
    'span store.journal.append',
  ]);
  expect(calls.filter((call) => call.includes('waybill.events.')).sort()).toEqual([
    'add waybill.events.persisted.total',
    'add waybill.events.publish.total',
    'record waybill.events.publish.duration',
  ]);
});

test('over HTTP what a run says is published in its trace, and the server counts it', async () => {
  const recorder = new Recorder();
  const own = instrument(recorder);
  const { url } = await served(own);
  const waybill = await connected(url, { telemetry: own });
  await lifeOf(waybill, speak);
  await recorder.ended('settle', 2);
  const { traceId } = recorder.one('process default').spanContext();
  const tree = recorder.tree(traceId);
  const at = tree.indexOf('    publish');
  expect(tree.slice(at, at + 3)).toEqual(['    publish', '      POST /ojs/v1/jobs/:id/journal', '        publish']);
  for (const { attributes } of recorder.named('publish'))
    expect(attributes).toMatchObject({ 'messaging.batch.message_count': 3, 'waybill.count': 3 });
  expect(await recorder.metric('waybill.events.publish.total')).toEqual({ '{"success":true}': 1 });
  expect(await recorder.metric('waybill.events.persisted.total')).toEqual({ '{}': 3 });
});

test('an exporter that fails, or never answers, keeps no job waiting', async () => {
  let exports = 0;
  const unanswered: (() => void)[] = [];
  const hangs = Promise.withResolvers<void>();
  const exporter = {
    export: (_: unknown, done: (result: { code: number; error?: Error }) => void) => {
      exports += 1;
      if (exports === 1) done({ code: 1, error: new Error('The collector is away.') });
      else unanswered.push(() => done({ code: 0 }));
      if (exports > 1) hangs.resolve();
    },
    shutdown: async () => {},
    forceFlush: async () => {},
  };
  const processor = new BatchSpanProcessor({
    ...{ exporter: exporter as never, maxExportBatchSize: 1, maxQueueSize: 4 },
    ...{ scheduledDelayMillis: 1, exportTimeoutMillis: 600_000 },
  });
  const recorder = new Recorder({ processors: [processor] });
  const waybill = await connected(SQLITE, { telemetry: instrument(recorder) });
  const hello = task('hello.say', { run: () => 'done' });
  waybill.work([hello]);
  const many = await waybill.enqueueMany(
    hello,
    Array.from({ length: 50 }, () => undefined),
  );
  expect(await Promise.all(many.map((one) => waybill.wait(one)))).toEqual(Array.from({ length: 50 }, () => 'done'));
  await hangs.promise;
  expect([exports, unanswered.length]).toEqual([2, 1]);
  exporter.export = (_, done) => done({ code: 0 });
  for (const answer of unanswered) answer();
});

test('anything else than an instrumentation is refused before the store is opened', async () => {
  await expect(connect(SQLITE, { telemetry: 'yes' as never })).rejects.toMatchObject({
    code: 'invalid_request',
    message: "The option 'telemetry' must be true, false or an instrumentation.",
  });
});
