import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { defaultResource } from '@opentelemetry/resources';
// biome-ignore lint/suspicious/noTsIgnore: in the repository the peer is there, so nothing would be expected.
/** @ts-ignore An optional peer: where it is not installed, its types are any. */
import { type DataPoint, type Histogram, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
// biome-ignore lint/suspicious/noTsIgnore: in the repository the peer is there, so nothing would be expected.
/** @ts-ignore An optional peer: where it is not installed, its types are any. */
import {
  AlwaysOnSampler,
  InMemorySpanExporter,
  ParentBasedSampler,
  RandomIdGenerator,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { onTestFinished } from 'vitest';
import { lightTracerProvider, type SdkTracerProvider } from '../light/light-tracer-provider.ts';

class PullReader extends MetricReader {
  protected async onForceFlush(): Promise<void> {}
  protected async onShutdown(): Promise<void> {}
}

/** The SDK with exporters in memory. Contexts flow as in a process whose owner has set OpenTelemetry up. */
export class Recorder {
  readonly #exporter = new InMemorySpanExporter();
  readonly #reader = new PullReader();
  readonly #waiting = new Set<() => void>();
  readonly tracerProvider: SdkTracerProvider;
  readonly meterProvider = new MeterProvider({ readers: [this.#reader] });

  /** `isLight`: with the tracer provider that the command uses. */
  constructor({ processors = [], isLight = false }: { processors?: readonly SpanProcessor[]; isLight?: boolean } = {}) {
    const bell: SpanProcessor = {
      onStart: () => {},
      onEnd: () => {
        for (const look of this.#waiting) look();
      },
      forceFlush: async () => {},
      shutdown: async () => {},
    };
    const exporting = new SimpleSpanProcessor({ exporter: this.#exporter });
    const spanProcessors = [exporting, ...processors, bell];
    const sampler = new ParentBasedSampler({ root: new AlwaysOnSampler() });
    this.tracerProvider = isLight
      ? lightTracerProvider(
          { TracerProvider, AlwaysOnSampler, RandomIdGenerator },
          { spanProcessors, sampler, resource: defaultResource(), spanLimits: { attributeValueLengthLimit: 100 } },
        )
      : new TracerProvider({ spanProcessors });
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    onTestFinished(async () => {
      context.disable();
      await this.tracerProvider.shutdown();
      await this.meterProvider.shutdown();
    });
  }

  get spans(): ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  named(name: string): ReadableSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  /** The only one of this name. */
  one(name: string): ReadableSpan {
    const [span, ...more] = this.named(name);
    if (span === undefined || more.length > 0)
      throw new Error(
        `There are ${more.length + (span ? 1 : 0)} spans '${name}' among ${this.spans.map((one) => one.name)}.`,
      );
    return span;
  }

  /** Resolves when so many spans of this name have ended. */
  ended(name: string, count = 1): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.named(name).length < count) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  reset(): void {
    this.#exporter.reset();
  }

  /** Names of the spans of a trace, each two spaces further in than its parent; children by name. */
  tree(traceId: string): string[] {
    const own = this.spans.filter((span) => span.spanContext().traceId === traceId);
    const ids = new Set(own.map((span) => span.spanContext().spanId));
    const under = (parent: string | undefined, indent: string): string[] =>
      own
        .filter((span) => {
          const of = span.parentSpanContext?.spanId;
          return parent === undefined ? of === undefined || !ids.has(of) : of === parent;
        })
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .flatMap((span) => [`${indent}${span.name}`, ...under(span.spanContext().spanId, `${indent}  `)]);
    return under(undefined, '');
  }

  /** Every value of a metric, by its attributes as JSON; of a histogram how many were recorded. */
  async metric(name: string): Promise<Record<string, number>> {
    const { resourceMetrics, errors } = await this.#reader.collect();
    if (errors.length > 0) throw errors[0];
    const found = resourceMetrics.scopeMetrics
      .flatMap(({ metrics }) => metrics)
      .find((one) => one.descriptor.name === name);
    const points = (found?.dataPoints ?? []) as DataPoint<number | Histogram>[];
    return Object.fromEntries(
      points.map(({ attributes, value }) => [
        JSON.stringify(attributes),
        typeof value === 'number' ? value : value.count,
      ]),
    );
  }

  async metricNames(): Promise<string[]> {
    const { resourceMetrics } = await this.#reader.collect();
    return resourceMetrics.scopeMetrics
      .flatMap(({ metrics }) => metrics.map(({ descriptor }) => descriptor.name))
      .sort();
  }
}
