import { type TextMapPropagator, trace } from '@opentelemetry/api';
import { readTrace, writeTrace } from './trace-context.ts';

/** W3C Trace Context in the headers of other programs: what a handler calls continues the trace of its run. */
export const w3cPropagator: TextMapPropagator = {
  inject: (context, carrier, setter) => {
    const fields = writeTrace(trace.getSpanContext(context));
    if (fields === undefined) return;
    setter.set(carrier, 'traceparent', fields.traceparent);
    if (fields.tracestate !== undefined) setter.set(carrier, 'tracestate', fields.tracestate);
  },
  extract: (context, carrier, getter) => {
    const found = readTrace(first(getter.get(carrier, 'traceparent')), first(getter.get(carrier, 'tracestate')));
    return found === undefined ? context : trace.setSpanContext(context, found);
  },
  fields: () => ['traceparent', 'tracestate'],
};

/** A header that was sent several times is a list. */
const first = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);
