import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, onTestFinished, test } from 'vitest';
import { registerSdk } from './register.ts';

const register = (tracerProvider = new TracerProvider()) => {
  const unregister = registerSdk({
    ...{ contextManager: new AsyncLocalStorageContextManager().enable(), tracerProvider },
  });
  onTestFinished(unregister);
  return unregister;
};

/** What a library of a user does before it calls another program. */
function headersOf(): Record<string, string> {
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  return headers;
}

test('what a handler calls gets the trace of its run, and nothing where there is none', () => {
  register();
  expect(headersOf()).toEqual({});
  trace.getTracer('a').startActiveSpan('run', (span) => {
    const { traceId, spanId } = span.spanContext();
    expect(headersOf()).toEqual({ traceparent: `00-${traceId}-${spanId}-01` });
  });
});

test('a trace with its state is read back, also from a header that came as a list', () => {
  register();
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  for (const sent of [
    { traceparent, tracestate: 'x=1' },
    { traceparent: [traceparent], tracestate: ['x=1'] },
  ]) {
    const read = propagation.extract(ROOT_CONTEXT, sent);
    expect(trace.getSpanContext(read)).toMatchObject({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) });
    const headers: Record<string, string> = {};
    propagation.inject(read, headers);
    expect(headers).toEqual({ traceparent, tracestate: 'x=1' });
  }
  expect(propagation.extract(ROOT_CONTEXT, { traceparent: 'nonsense' })).toBe(ROOT_CONTEXT);
});

test('what the program has registered itself stays, before and after', () => {
  const own = new TracerProvider();
  const unregisterOwn = register(own);
  const unregister = register();
  unregister();
  const span = trace.getTracer('a').startSpan('one');
  expect(span.isRecording()).toBe(true);
  expect(propagation.fields()).toEqual(['traceparent', 'tracestate']);
  unregisterOwn();
  expect(trace.getTracer('a').startSpan('one').isRecording()).toBe(false);
  expect(propagation.fields()).toEqual([]);
});
