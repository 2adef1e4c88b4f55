import {
  type Context,
  createTraceState,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
} from '@opentelemetry/api';

/** The names of W3C Trace Context, in a job's meta as in the headers of a request. */
export interface TraceFields {
  traceparent: string;
  tracestate?: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** What every participant must be able to carry; a longer state is dropped. */
const LONGEST_STATE = 512;
/** More than this the SDK drops by default. */
const MOST_LINKS = 128;

/** Read and written here and not by the registered propagator: a row outlives the process whose choice that was. */
export function readTrace(traceparent: unknown, tracestate?: unknown): SpanContext | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const match = TRACEPARENT.exec(traceparent);
  if (match === null) return undefined;
  const [, version, traceId, spanId, flags, rest] = match;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  const found: SpanContext = {
    traceId: traceId!,
    spanId: spanId!,
    traceFlags: Number.parseInt(flags!, 16),
    isRemote: true,
  };
  if (!isSpanContextValid(found)) return undefined;
  if (typeof tracestate === 'string' && tracestate !== '' && tracestate.length <= LONGEST_STATE)
    found.traceState = createTraceState(tracestate);
  return found;
}

/** Undefined where there is no trace: without a tracer provider all spans are invalid. */
export function writeTrace(span: SpanContext | undefined): TraceFields | undefined {
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, '0');
  const traceparent = `00-${span.traceId}-${span.spanId}-${flags}`;
  const tracestate = span.traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
}

/** Whatever carries a trace: the meta of a job, or a hint. */
export interface TraceCarrier {
  readonly traceparent?: unknown;
  readonly tracestate?: unknown;
}

/** The context to start a span in that continues what the carrier names; a new trace where it names none. */
export function contextOf({ traceparent, tracestate }: TraceCarrier): Context {
  if (traceparent === last.traceparent && tracestate === last.tracestate) return last.context;
  const found = readTrace(traceparent, tracestate);
  last = { traceparent, tracestate, context: found ? trace.setSpanContext(ROOT_CONTEXT, found) : ROOT_CONTEXT };
  return last.context;
}

/** Jobs of one batch follow each other, and have the same trace. */
let last: { traceparent: unknown; tracestate: unknown; context: Context } = {
  ...{ traceparent: undefined, tracestate: undefined, context: ROOT_CONTEXT },
};

/** What a batch belongs to: one trace where all items name the same span, else none, and a link to each. */
export interface Belonging {
  parent?: Context;
  links?: Link[];
}

export function belongingOf(carriers: Iterable<TraceCarrier>): Belonging {
  const seen = new Set<string>();
  const links: Link[] = [];
  let before: unknown;
  for (const { traceparent, tracestate } of carriers) {
    // Neighbours are mostly of one trace, and then nothing is looked up.
    if (traceparent === before || typeof traceparent !== 'string') continue;
    before = traceparent;
    if (seen.has(traceparent)) continue;
    if (links.length >= MOST_LINKS) break;
    seen.add(traceparent);
    const context = readTrace(traceparent, tracestate);
    if (context) links.push({ context });
  }
  if (links.length === 0) return {};
  if (links.length > 1) return { links };
  return { parent: trace.setSpanContext(ROOT_CONTEXT, links[0]!.context) };
}
