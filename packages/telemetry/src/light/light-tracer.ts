import {
  type Attributes,
  type Context,
  createContextKey,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  type SpanOptions,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { SpanRequest } from '../trace/span-request.ts';
import { LightSpan, type LightSpanParts, type WholeSpan } from './light-span.ts';
import { spanId } from './span-ids.ts';

/** Whether a span is recorded, as samplers of the SDK answer it. */
export interface SamplerLike {
  shouldSample(
    context: Context,
    traceId: string,
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    links: Link[],
  ): { decision: number; attributes?: Attributes | undefined; traceState?: unknown };
}

export interface LightTracerParts extends Pick<LightSpanParts, 'resource' | 'instrumentationScope' | 'longestValue'> {
  sampler: SamplerLike;
  /** The SDK's tracer, for all that is not light. */
  tracer: Tracer;
  /** A tracer of the SDK that records every span under the id that `give` was told last. */
  wholes: { tracer: Tracer; give(spanId: string): void };
  onEnd(span: LightSpan): void;
}

/** As `SamplingDecision.RECORD_AND_SAMPLED` of the SDK. */
const SAMPLED = 2;
/** The key by which the SDK marks a context in which no span is made. */
const SUPPRESSED = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
const NO_ATTRIBUTES: Attributes = {};
const NO_LINKS: Link[] = [];

/** The tracer of this package: spans under a sampled parent are light, and the SDK's tracer makes all others. */
export class LightTracer implements Tracer {
  readonly startActiveSpan: Tracer['startActiveSpan'];
  readonly #parts: LightTracerParts;
  readonly #spanParts: LightSpanParts;

  constructor(parts: LightTracerParts) {
    const { tracer, resource, instrumentationScope, longestValue, onEnd } = parts;
    this.#parts = parts;
    this.#spanParts = { resource, instrumentationScope, longestValue, onEnd, whole: (span) => this.#whole(span) };
    this.startActiveSpan = tracer.startActiveSpan.bind(tracer) as Tracer['startActiveSpan'];
  }

  startSpan(name: string, options?: SpanOptions, context?: Context): Span {
    return this.#parts.tracer.startSpan(name, options, context);
  }

  /** Undefined: the span is not one that is made light. */
  start(request: SpanRequest, parent: Context): LightSpan | undefined {
    const above = trace.getSpanContext(parent);
    if (above === undefined || (above.traceFlags & TraceFlags.SAMPLED) === 0 || !isSpanContextValid(above))
      return undefined;
    if (parent.getValue(SUPPRESSED) === true) return undefined;
    const { name, kind, links = NO_LINKS } = request;
    const { traceId, traceState } = above;
    const answer = this.#parts.sampler.shouldSample(parent, traceId, name, kind, NO_ATTRIBUTES, links);
    if (answer.decision !== SAMPLED || answer.attributes || answer.traceState) return undefined;
    const context = { traceId, spanId: spanId(), traceFlags: TraceFlags.SAMPLED, ...(traceState && { traceState }) };
    return new LightSpan(this.#spanParts, request, above, context);
  }

  #whole(span: LightSpan): WholeSpan {
    const { name, kind, attributes, links, startTime, parentSpanContext } = span;
    const { tracer, give } = this.#parts.wholes;
    give(span.spanContext().spanId);
    const parent = trace.setSpanContext(ROOT_CONTEXT, parentSpanContext);
    return tracer.startSpan(name, { kind, attributes, links, startTime }, parent);
  }
}
