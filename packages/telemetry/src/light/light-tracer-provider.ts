import type { Tracer, TracerProvider } from '@opentelemetry/api';
import { INSTRUMENTATION } from '../trace/attributes.ts';
import type { LightSpan } from './light-span.ts';
import { LightTracer, type SamplerLike } from './light-tracer.ts';

/** A processor of spans, as the SDK has it. */
interface Processor {
  onStart(span: never, parentContext: never): void;
  onEnd(span: never): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** A tracer provider with what the SDK adds to it. */
export interface SdkTracerProvider extends TracerProvider {
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

interface Ids {
  generateSpanId(): string;
  generateTraceId(): string;
}

/** As much of @opentelemetry/sdk-trace as is called here, so that this package does not need it. */
export interface TraceSdk {
  TracerProvider: new (options: never) => SdkTracerProvider;
  AlwaysOnSampler: new () => SamplerLike;
  RandomIdGenerator: new () => Ids;
}

export interface LightTracerProviderOptions {
  resource: unknown;
  sampler: SamplerLike;
  /** Told of the end of a light span, and not of its start. */
  spanProcessors: readonly Processor[];
  spanLimits?: { attributeValueLengthLimit?: number };
}

/**
 * The SDK's tracer provider, but for the spans of this package: those cost a third. What a program traces by itself, and
 * every span of ours that it changes, the SDK makes. For spans without a parent the SDK asks the sampler, too.
 */
export function lightTracerProvider(sdk: TraceSdk, options: LightTracerProviderOptions): SdkTracerProvider {
  const { resource, sampler, spanProcessors, spanLimits } = options;
  const provider = new sdk.TracerProvider(options as never);
  const onEnd = (span: LightSpan): void => {
    for (const processor of spanProcessors) processor.onEnd(span as never);
  };
  const ours = new LightTracer({
    ...{ resource, sampler, onEnd, tracer: provider.getTracer(INSTRUMENTATION), wholes: wholesOf(sdk, options) },
    instrumentationScope: { name: INSTRUMENTATION },
    longestValue: spanLimits?.attributeValueLengthLimit ?? Number.POSITIVE_INFINITY,
  });
  return {
    getTracer: (name, version, more): Tracer =>
      name === INSTRUMENTATION ? ours : provider.getTracer(name, version, more),
    forceFlush: () => provider.forceFlush(),
    shutdown: () => provider.shutdown(),
  };
}

/** Records whatever it is asked for, since the sampler has decided already, under ids that were given out already. */
function wholesOf(sdk: TraceSdk, options: LightTracerProviderOptions): { tracer: Tracer; give(spanId: string): void } {
  let given = '';
  const random = new sdk.RandomIdGenerator();
  const idGenerator: Ids = { generateSpanId: () => given, generateTraceId: () => random.generateTraceId() };
  const provider = new sdk.TracerProvider({ ...options, sampler: new sdk.AlwaysOnSampler(), idGenerator } as never);
  const give = (spanId: string): void => {
    given = spanId;
  };
  return { tracer: provider.getTracer(INSTRUMENTATION), give };
}
