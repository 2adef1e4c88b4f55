import { trace } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { belongingOf, readTrace, writeTrace } from './trace-context.ts';

const [TRACE, SPAN] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

test('reads what W3C allows, a later version included, and writes it back', () => {
  const read = readTrace(`00-${TRACE}-${SPAN}-01`, 'a=1,b=2')!;
  expect(read).toMatchObject({ traceId: TRACE, spanId: SPAN, traceFlags: 1, isRemote: true });
  expect(writeTrace(read)).toEqual({ traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'a=1,b=2' });
  expect(readTrace(`01-${TRACE}-${SPAN}-00-more`)).toMatchObject({ traceFlags: 0 });
  expect(writeTrace(readTrace(`00-${TRACE}-${SPAN}-00`))).toEqual({ traceparent: `00-${TRACE}-${SPAN}-00` });
});

test.each([
  undefined,
  null,
  7,
  {},
  '',
  'nonsense',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
])('takes %j for no trace', (text) => {
  expect(readTrace(text)).toBeUndefined();
});

test('a state that is too long is dropped, and the trace goes on', () => {
  expect(writeTrace(readTrace(`00-${TRACE}-${SPAN}-01`, `a=${'x'.repeat(600)}`))).toEqual({
    traceparent: `00-${TRACE}-${SPAN}-01`,
  });
});

test('a batch of one span belongs to it, a batch of several has links, at most 128', () => {
  const carrier = (number: number) => ({ traceparent: `00-${TRACE}-${number.toString(16).padStart(16, '0')}-01` });
  const one = belongingOf([carrier(1), {}, carrier(1), { traceparent: 'nonsense' }]);
  expect(one.links).toBeUndefined();
  expect(trace.getSpanContext(one.parent!)?.spanId).toBe('1'.padStart(16, '0'));
  expect(belongingOf([carrier(1), carrier(2)]).links).toHaveLength(2);
  expect(belongingOf(Array.from({ length: 500 }, (_, index) => carrier(index + 1))).links).toHaveLength(128);
  expect(belongingOf([])).toEqual({});
});
