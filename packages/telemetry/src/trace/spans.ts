import {
  type Context,
  context,
  diag,
  INVALID_SPAN_CONTEXT,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { LightSpan } from '../light/light-span.ts';
import { LightTracer } from '../light/light-tracer.ts';
import { ContextWithSpan } from './context-with-span.ts';
import type { SpanEnd, SpanRequest } from './span-request.ts';
import { hrTimeOf, nowMs } from './span-time.ts';

/** What is told of a span by the answer. */
type Tell<T> = (answer: T, span: SpanContext) => SpanEnd;

/** What the API has while nothing is registered: it tells no tracer then. */
type LateProvider = TracerProvider & { getDelegateTracer?(name: string): Tracer | undefined };

/** Makes spans. What a broken processor or sampler throws goes to OpenTelemetry's own log and never to a job. */
export class Spans {
  readonly #tracer: Tracer;
  /** The same tracer where it makes light spans. */
  readonly #light: LightTracer | undefined;
  readonly #provider: LateProvider;
  #isOn: boolean;

  constructor(provider: TracerProvider, name: string) {
    this.#provider = provider;
    this.#isOn = this.#provider.getDelegateTracer === undefined;
    this.#tracer = provider.getTracer(name);
    this.#light = this.#tracer instanceof LightTracer ? this.#tracer : undefined;
  }

  /**
   * False while no tracer provider is registered, as where a process has metrics only: then no span is worth its
   * attributes. One that is registered later counts from then on.
   */
  get isOn(): boolean {
    this.#isOn ||= this.#provider.getDelegateTracer?.('') !== undefined;
    return this.#isOn;
  }

  start(request: SpanRequest): Span {
    const { name, kind, attributes, parent = context.active(), links, startMs, onlySampled } = request;
    try {
      if (onlySampled && isUnsampled(parent)) return trace.wrapSpanContext(trace.getSpanContext(parent)!);
      const light = this.#light?.start(request, parent);
      if (light) return light;
      // The SDK checks and copies attributes of a new span twice, for samplers, and those that are set later once. Samplers
      // by the parent do not look at them where the parent is sampled.
      const isDecided = isSampled(parent);
      const options: SpanOptions = isDecided ? { kind } : { kind, attributes };
      if (links) options.links = links;
      if (startMs !== undefined) options.startTime = hrTimeOf(startMs);
      const span = this.#tracer.startSpan(name, options, parent);
      if (isDecided && span.isRecording()) span.setAttributes(attributes);
      return span;
    } catch (error) {
      diag.error('Waybill could not start a span.', error);
      return trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
    }
  }

  end(span: Span, told: SpanEnd = {}, endMs = told.endMs): void {
    const { attributes, error, link, name } = told;
    try {
      if (span instanceof LightSpan && span.finish(told, endMs ?? nowMs())) return;
      if (!span.isRecording()) return;
      if (name !== undefined) span.updateName(name);
      if (attributes) span.setAttributes(attributes);
      // Absent in SDKs before 1.26.
      if (link) span.addLink?.({ context: link });
      if (error !== undefined) {
        span.setAttribute('error.type', error);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end(endMs === undefined ? undefined : hrTimeOf(endMs));
    } catch (reason) {
      diag.error('Waybill could not end a span.', reason);
    }
  }

  /** One that is over already, for what is worth a span only when its answer is known. */
  record(request: SpanRequest & { startMs: number }, end: SpanEnd = {}): void {
    // Without an end the SDK takes whole milliseconds, which may lie before the start.
    this.end(this.start(request), end, end.endMs ?? nowMs());
  }

  /** Runs the work inside of the span, and ends it. */
  within<T>(request: SpanRequest, work: (span: SpanContext) => Promise<T>, tell?: Tell<T>): Promise<T> {
    const span = this.start(request);
    const inside = new ContextWithSpan(request.parent ?? context.active(), span);
    return this.#ended(span, context.with(inside, work, undefined, span.spanContext()), tell);
  }

  /** The same for work that calls nobody who would ask what is active: a context of its own costs as much as a span. */
  beside<T>(request: SpanRequest, work: (span: SpanContext) => Promise<T>, tell?: Tell<T>): Promise<T> {
    const span = this.start(request);
    return this.#ended(span, work(span.spanContext()), tell);
  }

  /** Without a frame of its own to wait in, as hundreds do at a time. */
  #ended<T>(span: Span, work: Promise<T>, tell: Tell<T> | undefined): Promise<T> {
    return work.then(
      (answer) => {
        this.end(span, tell?.(answer, span.spanContext()));
        return answer;
      },
      (error: unknown) => {
        this.end(span, { error: errorType(error) });
        throw error;
      },
    );
  }
}

/** Whether the producer, or another service before it, has decided that this trace is recorded. */
function isSampled(parent: Context): boolean {
  const above = trace.getSpanContext(parent);
  return above !== undefined && (above.traceFlags & TraceFlags.SAMPLED) !== 0;
}

/** Whether somebody has decided before that this trace is not recorded. */
export function isUnsampled(parent: Context): boolean {
  const above = trace.getSpanContext(parent);
  return above !== undefined && (above.traceFlags & TraceFlags.SAMPLED) === 0;
}

/** The code of the catalogue where there is one, else the name of the class. */
export function errorType(error: unknown): string {
  const { code, name } = (typeof error === 'object' && error !== null ? error : {}) as {
    code?: unknown;
    name?: unknown;
  };
  const told = typeof code === 'string' ? code : typeof name === 'string' ? name : typeof error;
  return told.slice(0, 100);
}

/** For what is about many traces at once: whatever happens to be active has nothing to do with it. */
export const NO_PARENT: Context = ROOT_CONTEXT;
