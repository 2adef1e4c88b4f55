import { type EngineOptions, engine, type NewEntry, silentLogger, WaybillError } from '@waybill/core';
import { faultyStore, memoryStore } from '@waybill/core/testing';
import { type AnyTask, task, Worker } from '@waybill/worker';
import { expect, onTestFinished, test } from 'vitest';
import { instrument } from '../instrument.ts';
import type { InstrumentOptions } from '../instrumentation.ts';
import { Recorder } from '../testing/recorder.ts';

function instrumented(
  { store = memoryStore(), ...options }: Partial<EngineOptions> = {},
  more: InstrumentOptions = {},
) {
  const recorder = new Recorder();
  const { tracerProvider, meterProvider } = recorder;
  const own = instrument({ tracerProvider, meterProvider, ...more });
  const parts = { observer: own.observer, logger: silentLogger, maintenance: false, ...options };
  const waybill = own.port(engine({ store: own.store(store), ...parts }));
  onTestFinished(() => waybill.close());
  const running = async (tenant = '') => {
    const { job } = await waybill.jobs.enqueue({ type: 'a.b', args: [] }, { tenant });
    const [lease] = await waybill.jobs.claim({ queues: ['default'], tenant });
    return { tenant, id: job.id, leaseToken: lease!.token };
  };
  const work = (tasks: readonly AnyTask[], jobs = waybill.jobs) => {
    const worker = new Worker({ jobs, tasks, middleware: [own.middleware], logger: silentLogger }).start();
    onTestFinished(() => worker.stop());
    return worker;
  };
  return { recorder, own, waybill, running, work };
}

const outputs = (count: number, from = 1): NewEntry[] =>
  Array.from({ length: count }, (_, n) => ({ sequence: from + n, type: 'output', output: Buffer.from('line\n') }));

test('a batch is a span with its size, and counts as one call and as its entries', async () => {
  const { recorder, waybill, running } = instrumented();
  const held = await running();
  const entries: NewEntry[] = [...outputs(2), { sequence: 3, type: 'step.done', data: { at: 'é' } }];
  await recorder.tracerProvider.getTracer('shop').startActiveSpan('speak', async (span) => {
    await waybill.jobs.append({ ...held, entries });
    span.end();
  });
  const span = recorder.one('publish');
  expect(span.parentSpanContext?.spanId).toBe(recorder.one('speak').spanContext().spanId);
  expect(span.attributes).toEqual({
    ...{ 'messaging.system': 'waybill', 'messaging.operation.type': 'send', 'messaging.operation.name': 'publish' },
    ...{ 'messaging.batch.message_count': 3, 'waybill.bytes': 10 + Buffer.byteLength('{"at":"é"}') },
    ...{ 'waybill.job.id': held.id, 'waybill.job.run': 1, 'waybill.count': 3 },
  });
  // Sent again: a call, and nothing that is stored.
  await waybill.jobs.append({ ...held, entries });
  expect(await recorder.metric('waybill.events.publish.total')).toEqual({ '{"success":true}': 2 });
  expect(await recorder.metric('waybill.events.publish.duration')).toEqual({ '{}': 2 });
  expect(await recorder.metric('waybill.events.persisted.total')).toEqual({ '{}': 3 });
  expect(await recorder.metric('waybill.events.publish.errors.total')).toEqual({});
});

test('what a job is not allowed to say any more is counted as cut, and never as persisted', async () => {
  const { recorder, waybill, running } = instrumented({ journal: { maxBytes: 4_096 } });
  const held = await running();
  await waybill.jobs.append({ ...held, entries: [{ sequence: 1, type: 'output', output: Buffer.alloc(3_000) }] });
  const large = { sequence: 2, type: 'output', output: Buffer.alloc(3_000) };
  expect((await waybill.jobs.append({ ...held, entries: [large, ...outputs(4, 3)] })).cut).toBe(5);
  expect(await recorder.metric('waybill.events.persisted.total')).toEqual({ '{}': 1 });
  expect(await recorder.metric('waybill.events.dropped.total')).toEqual({ '{"reason":"cut"}': 5 });
  expect(recorder.named('publish')[1]!.attributes).toMatchObject({ 'waybill.count': 0, 'waybill.cut': 5 });
});

test.each([
  [new Error('disk I/O error'), 'persistence_failed'],
  [new WaybillError('unavailable', 'away'), 'persistence_failed'],
  [new WaybillError('resource_exhausted', 'throttled'), 'persistence_failed'],
  [new WaybillError('conflict', 'out of order'), 'conflict'],
])('%s of the store is counted as %s', async (error, type) => {
  // A flush that fails is tried again a few times.
  const faults = Array.from({ length: 10 }, (_, n) => ({
    ...{ method: 'journal.append' as const, call: n + 1, when: 'before' as const, error },
  }));
  const { recorder, waybill, running } = instrumented({ store: faultyStore(memoryStore(), faults) });
  const held = await running();
  await expect(waybill.jobs.append({ ...held, entries: outputs(1) })).rejects.toThrow();
  expect(await recorder.metric('waybill.events.publish.errors.total')).toEqual({ [`{"error_type":"${type}"}`]: 1 });
  expect(await recorder.metric('waybill.events.publish.total')).toEqual({ '{"success":false}': 1 });
  expect(await recorder.metric('waybill.events.persisted.total')).toEqual({});
  expect(recorder.one('publish').attributes['error.type']).toBeDefined();
});

test('what is no call is refused by the engine as ever, with a span and a count', async () => {
  const { recorder, waybill } = instrumented();
  for (const call of [null, { id: 'x', entries: 7 }, { id: 'x', entries: [null, { data: 1n }] }])
    await expect(waybill.jobs.append(call as never)).rejects.toThrow();
  expect(recorder.named('publish').map(({ attributes }) => attributes['messaging.batch.message_count'])).toEqual([
    0, 0, 2,
  ]);
});

test('through a port to a server only failures to reach it are counted: the server counts the rest', async () => {
  const { recorder, own, waybill, running } = instrumented();
  const held = await running();
  let failure: Error | undefined;
  const remote = own.port({
    ...waybill,
    records: undefined as never,
    jobs: { ...waybill.jobs, append: (call) => (failure ? Promise.reject(failure) : waybill.jobs.append(call)) },
  });
  await remote.jobs.append({ ...held, entries: outputs(2) });
  expect(recorder.tree(recorder.named('publish')[0]!.spanContext().traceId)).toEqual(['publish', '  publish']);
  failure = new WaybillError('lease_lost', 'not yours');
  await expect(remote.jobs.append({ ...held, entries: outputs(2, 3) })).rejects.toThrow();
  failure = new WaybillError('unavailable', 'away');
  await expect(remote.jobs.append({ ...held, entries: outputs(2, 3) })).rejects.toThrow();
  expect(await recorder.metric('waybill.events.publish.total')).toEqual({ '{"success":true}': 1 });
  expect(await recorder.metric('waybill.events.persisted.total')).toEqual({ '{}': 2 });
  expect(await recorder.metric('waybill.events.publish.errors.total')).toEqual({
    '{"error_type":"persistence_failed"}': 1,
  });
});

test('what a handler says is published inside of its run, and a job that is not sampled has no span for it', async () => {
  const { recorder, waybill, work } = instrumented();
  const loud = task('loud.one', {
    run: async (_, { output, emit }) => {
      await emit('step.done', 1, { critical: true });
      output('last words');
    },
  });
  work([loud]);
  await waybill.jobs.enqueue({ type: 'loud.one', args: [] });
  await recorder.ended('publish', 2);
  await recorder.ended('settle');
  const { traceId, spanId } = recorder.one('process default').spanContext();
  for (const { parentSpanContext } of recorder.named('publish'))
    expect(parentSpanContext).toMatchObject({ traceId, spanId });

  recorder.reset();
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`;
  const { job } = await waybill.jobs.enqueue({ type: 'loud.one', args: [], meta: { traceparent } });
  const controller = new AbortController();
  for await (const event of waybill.events.follow({ filter: { jobIds: [job.id] }, signal: controller.signal }))
    if (event.type === 'job.completed') controller.abort();
  expect(recorder.named('publish')).toEqual([]);
  expect(await recorder.metric('waybill.events.persisted.total')).toEqual({ '{}': 4 });
});

test('what is cut is counted once where a worker runs, too', async () => {
  const { recorder, waybill, work } = instrumented({ journal: { maxBytes: 4_096 } });
  const loud = task('loud.one', {
    run: (_, { output }) => {
      for (let line = 0; line < 10; line += 1) output('x'.repeat(1_000));
    },
  });
  const worker = work([loud]);
  await waybill.jobs.enqueue({ type: 'loud.one', args: [] });
  await recorder.ended('settle');
  const { dropped } = worker.said;
  expect(dropped).toBeGreaterThan(0);
  expect(await recorder.metric('waybill.events.dropped.total')).toEqual({ '{"reason":"cut"}': dropped });
});

test('what a worker has to drop is counted by reason', async () => {
  const { recorder, waybill, work } = instrumented();
  const refuses: typeof waybill.jobs.append = () => Promise.reject(new WaybillError('forbidden', 'no'));
  const loud = task('loud.one', {
    run: (_, { output }) => {
      for (let line = 0; line < 3; line += 1) output('lost');
    },
  });
  work([loud], { ...waybill.jobs, append: refuses });
  await waybill.jobs.enqueue({ type: 'loud.one', args: [] });
  await recorder.ended('settle');
  expect(await recorder.metric('waybill.events.dropped.total')).toEqual({ '{"reason":"refused"}': 3 });
});

test('a follower tells how long its history was, once, and nothing of what comes live', async () => {
  const { recorder, waybill, running } = instrumented();
  const held = await running();
  await waybill.jobs.append({ ...held, entries: outputs(5) });
  const over = new AbortController();
  const live = Promise.withResolvers<void>();
  const seen: number[] = [];
  const following = (async () => {
    for await (const said of waybill.jobs.follow(held.id, {
      signal: over.signal,
      lifecycle: true,
      onLive: live.resolve,
    }))
      if (said.kind === 'entry' && seen.push(said.entry.sequence) === 7) over.abort();
  })();
  await live.promise;
  expect(await recorder.metric('waybill.streams.historical_replay.events.total')).toEqual({ '{}': 5 });
  await waybill.jobs.append({ ...held, entries: outputs(2, 6) });
  await following;
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(await recorder.metric('waybill.streams.historical_replay.events.total')).toEqual({ '{}': 5 });
  expect(await recorder.metric('waybill.streams.historical_replay.duration')).toEqual({ '{}': 1 });
});

test('the journal of an ended job is all history; a reader that leaves has read what it has, in no time', async () => {
  const { recorder, waybill, running } = instrumented();
  const held = await running();
  await waybill.jobs.append({ ...held, entries: outputs(5) });
  await waybill.jobs.settle({ ...held, outcome: { kind: 'completed', result: null } });
  const { signal } = new AbortController();
  for await (const _ of waybill.jobs.follow(held.id, { signal }));
  expect(await recorder.metric('waybill.streams.historical_replay.duration')).toEqual({ '{}': 1 });
  for await (const said of waybill.jobs.follow(held.id, { signal }))
    if (said.kind === 'entry' && said.entry.sequence === 2) break;
  expect(await recorder.metric('waybill.streams.historical_replay.duration')).toEqual({ '{}': 1 });
  expect(await recorder.metric('waybill.streams.historical_replay.events.total')).toEqual({ '{}': 7 });
});

test('streams are counted up and down by kind, and those that were cut off', async () => {
  const { recorder, own } = instrumented();
  const [journal, output] = [{ kind: 'journal' }, { kind: 'output' }];
  for (const kind of [journal, journal, output]) own.streams.opened(kind);
  own.streams.cutOff(journal);
  own.streams.closed(journal);
  expect(await recorder.metric('waybill.streams.active')).toEqual({ '{"kind":"journal"}': 1, '{"kind":"output"}': 1 });
  expect(await recorder.metric('waybill.channels.overflow.total')).toEqual({ '{"kind":"journal"}': 1 });
});

test('tenants are named only where that was asked for', async () => {
  const { recorder, waybill, running } = instrumented({}, { tenants: true });
  const held = await running('acme');
  await waybill.jobs.append({ ...held, entries: outputs(2) });
  expect(await recorder.metric('waybill.events.publish.total')).toEqual({ '{"tenant":"acme","success":true}': 1 });
  expect(await recorder.metric('waybill.events.persisted.total')).toEqual({ '{"tenant":"acme"}': 2 });
});
