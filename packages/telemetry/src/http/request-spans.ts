import { context, SpanKind, trace } from '@opentelemetry/api';
import type { Instruments } from '../metrics/instruments.ts';
import type { SpanEnd } from '../trace/span-request.ts';
import { nowMs } from '../trace/span-time.ts';
import { errorType, type Spans } from '../trace/spans.ts';
import { contextOf } from '../trace/trace-context.ts';
import type { ObservedAnswer, ObservedRpc, RequestObserver } from './request-observer.ts';
import { attributesOf, isFault } from './rpc-status.ts';

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * A span for every request, in the trace that its `traceparent` names. Paths stay out: a route says enough. The span of an
 * RPC has the status of the call, and lasts as long as its stream does.
 */
export function requestSpans(spans: Spans, instruments: Instruments): RequestObserver {
  const secondsSince = (startMs: number) => (nowMs() - startMs) / 1_000;
  return async (request, handle) => {
    const method = METHODS.has(request.method) ? request.method : '_OTHER';
    const startMs = nowMs();
    const parent = contextOf({ traceparent: request.header('traceparent'), tracestate: request.header('tracestate') });
    const attributes = { 'http.request.method': method };
    const span = spans.start({ name: method, kind: SpanKind.SERVER, attributes, parent, startMs });
    let answer: ObservedAnswer | undefined;
    try {
      answer = await context.with(trace.setSpan(parent, span), handle);
    } catch (error) {
      spans.end(span, { error: errorType(error) });
      throw error;
    } finally {
      const labels = { method, route: answer?.route ?? 'none', status: answer?.status ?? 500 };
      instruments.tell('http', secondsSince(startMs), labels);
    }
    const { rpc } = answer;
    if (rpc === undefined) return spans.end(span, ofRequest(method, answer));
    // Not awaited: a stream goes on only after the app has answered.
    const { status } = answer;
    void rpc.status.then((code) => {
      spans.end(span, ofCall(rpc, code, status));
      instruments.tell('rpc', secondsSince(startMs), { method: `${rpc.service}/${rpc.method}`, code });
    });
  };
}

const ofRequest = (method: string, { status, route }: ObservedAnswer): SpanEnd => ({
  attributes: { 'http.response.status_code': status, ...(route !== undefined && { 'http.route': route }) },
  name: route === undefined ? undefined : `${method} ${route}`,
  error: status >= 500 ? String(status) : undefined,
});

const ofCall = (rpc: ObservedRpc, code: string, status: number): SpanEnd => ({
  attributes: { ...attributesOf(rpc, code), 'http.response.status_code': status },
  name: `${rpc.service}/${rpc.method}`,
  error: isFault(code) ? code : undefined,
});
