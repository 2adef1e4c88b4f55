import { context, createContextKey, INVALID_SPAN_CONTEXT, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { ContextWithSpan } from './context-with-span.ts';

const span = trace.wrapSpanContext({ ...INVALID_SPAN_CONTEXT, traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) });
const other = createContextKey('other');
const own = createContextKey('own');

test('the API finds the span in it, and the values of its parent', () => {
  const inside = new ContextWithSpan(ROOT_CONTEXT.setValue(other, 1), span);
  expect(trace.getSpan(inside)).toBe(span);
  expect(trace.getSpanContext(inside)).toBe(span.spanContext());
  expect(inside.getValue(other)).toBe(1);
  expect(context.active().getValue(other)).toBeUndefined();
});

test('a context that is made from it keeps the span', () => {
  const inside = new ContextWithSpan(ROOT_CONTEXT.setValue(other, 1), span);
  const set = inside.setValue(own, 2);
  expect([trace.getSpan(set), set.getValue(other), set.getValue(own)]).toEqual([span, 1, 2]);
  const deleted = inside.deleteValue(other);
  expect([trace.getSpan(deleted), deleted.getValue(other)]).toEqual([span, undefined]);
  expect(trace.getSpan(trace.deleteSpan(inside))).toBeUndefined();
});
