import { type Context, context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { suppressTracing } from '@opentelemetry/core';
import { expect, test } from 'vitest';
import { Recorder } from '../testing/recorder.ts';
import { INSTRUMENTATION } from '../trace/attributes.ts';
import { Spans } from '../trace/spans.ts';
import { LightSpan } from './light-span.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const ABOVE = { traceId: TRACE, spanId: '00f067aa0ba902b7', traceFlags: 1, isRemote: true };
const parent = trace.setSpanContext(ROOT_CONTEXT, ABOVE);
const link = { context: { traceId: TRACE, spanId: '1111111111111111', traceFlags: 1 } };

function spansOf({ isLight = true } = {}) {
  const recorder = new Recorder({ isLight });
  const spans = new Spans(recorder.tracerProvider, INSTRUMENTATION);
  const start = (above: Context = parent) =>
    spans.start({
      ...{ name: 'process q', kind: SpanKind.CONSUMER, parent: above, links: [link], startMs: 1_700_000_000_000.25 },
      attributes: { text: 'a', number: 1, flag: true, missing: undefined },
    });
  return { recorder, spans, start };
}

/** What an exporter reads of the only span, but for its id and the scope's version. */
function exported(recorder: Recorder) {
  const span = recorder.spans[0]!;
  const { name, kind, parentSpanContext, startTime, endTime, duration, status, attributes, links, events } = span;
  const { droppedAttributesCount, droppedEventsCount, droppedLinksCount, ended } = span;
  return {
    ...{ name, kind, parentSpanContext, startTime, endTime, duration, status, attributes, links, events, ended },
    ...{ droppedAttributesCount, droppedEventsCount, droppedLinksCount, scope: span.instrumentationScope.name },
    ...{ traceId: span.spanContext().traceId, flags: span.spanContext().traceFlags },
    service: span.resource.attributes['telemetry.sdk.language'],
  };
}

test.each([
  { attributes: { more: 'b' }, endMs: 1_700_000_000_003.5 },
  { attributes: { text: 'changed' }, error: 'lease_lost', link: { ...link.context, spanId: '2222222222222222' } },
  { name: 'another', endMs: 1_700_000_000_001 },
])('an exporter reads of a light span what it reads of the one of the SDK: %j', (end) => {
  const [light, sdk] = [true, false].map((isLight) => {
    const { recorder, spans, start } = spansOf({ isLight });
    const span = start();
    expect(span instanceof LightSpan).toBe(isLight);
    spans.end(span, { endMs: 1_700_000_000_002, ...end });
    return exported(recorder);
  });
  expect(light).toEqual(sdk);
});

test('a span that other code changes becomes one of the SDK, with the same ids and all of its rules', () => {
  const { recorder, spans, start } = spansOf();
  const span = start();
  const before = span.spanContext();
  const child = recorder.tracerProvider.getTracer('handler').startSpan('inside', {}, trace.setSpan(parent, span));
  child.end();
  span.setAttribute('mine', 'x'.repeat(200)).setAttribute('', 1).addEvent('charged', { amount: 2 });
  span.recordException(new Error('later'));
  expect(span.spanContext()).toEqual(before);
  expect(span.isRecording()).toBe(true);
  spans.end(span, { attributes: { 'waybill.outcome': 'completed' }, endMs: 1_700_000_000_002 });
  expect(span.isRecording()).toBe(false);
  const [inside, run, ...more] = recorder.spans;
  expect(more).toEqual([]);
  expect(inside!.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: before.spanId });
  expect(run!.spanContext()).toMatchObject(before);
  expect(run).toMatchObject({
    ...{ name: 'process q', kind: SpanKind.CONSUMER, parentSpanContext: ABOVE, links: [link] },
    ...{ startTime: [1_700_000_000, 250_000], endTime: [1_700_000_000, 2_000_000] },
    events: [{ name: 'charged' }, { name: 'exception' }],
  });
  expect(run!.attributes).toEqual({
    ...{ text: 'a', number: 1, flag: true, mine: 'x'.repeat(100), 'waybill.outcome': 'completed' },
  });
});

test('a span that its handler ends is exported once, and what comes after the end changes nothing', () => {
  const { recorder, spans, start } = spansOf();
  const one = start();
  one.end();
  spans.end(one, { attributes: { late: true } });
  const two = start();
  spans.end(two);
  two.setAttribute('late', true).setStatus({ code: 2 }).updateName('late').end();
  spans.end(two, { error: 'twice' });
  expect(recorder.spans.map(({ name, attributes: { late } }) => [name, late])).toEqual([
    ['process q', undefined],
    ['process q', undefined],
  ]);
});

test('what a call names that nobody has checked is cut off or left out', () => {
  const { recorder, spans } = spansOf();
  const attributes = { long: 'x'.repeat(1_000), wrong: { a: 1 } as never, kept: 0 };
  spans.record({ name: 'settle', kind: SpanKind.CLIENT, parent, attributes, startMs: 5 });
  expect(recorder.spans[0]!.attributes).toEqual({ long: 'x'.repeat(100), kept: 0 });
});

test('the SDK makes spans without a parent, and none where tracing is suppressed or the parent is not sampled', () => {
  const { recorder, start } = spansOf();
  const root = start(ROOT_CONTEXT);
  expect([root instanceof LightSpan, root.isRecording()]).toEqual([false, true]);
  expect(start(suppressTracing(parent)).isRecording()).toBe(false);
  expect(start(trace.setSpanContext(ROOT_CONTEXT, { ...ABOVE, traceFlags: 0 })).isRecording()).toBe(false);
  expect(recorder.spans).toEqual([]);
});

test('other code that asks for the same tracer gets spans of the SDK', () => {
  const { recorder } = spansOf();
  const tracer = recorder.tracerProvider.getTracer(INSTRUMENTATION);
  tracer.startActiveSpan('mine', (span) => {
    expect(trace.getSpan(context.active())).toBe(span);
    span.end();
  });
  tracer.startSpan('other', { attributes: { a: [1, 2] } }).end();
  expect(recorder.spans.map(({ name, attributes }) => [name, attributes])).toEqual([
    ['mine', {}],
    ['other', { a: [1, 2] }],
  ]);
});

test('no two spans have the same id', () => {
  const { recorder, spans, start } = spansOf();
  for (let n = 0; n < 2_000; n += 1) spans.end(start());
  const ids = recorder.spans.map((span) => span.spanContext().spanId);
  expect(new Set(ids).size).toBe(2_000);
  expect(ids.filter((id) => !/^[0-9a-f]{16}$/.test(id))).toEqual([]);
});
