import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import type { BlobStore, DeliveryObserver, EngineObserver, Store, Transport, Waybill } from '@waybill/core';
import type { Middleware } from '@waybill/worker';
import type { RequestObserver } from './http/request-observer.ts';
import type { StreamObserver } from './metrics/stream-metrics.ts';

export interface InstrumentOptions {
  /** @defaultValue the one that is registered with the OpenTelemetry API */
  tracerProvider?: TracerProvider;
  /** @defaultValue the one that is registered with the OpenTelemetry API */
  meterProvider?: MeterProvider;
  /** Whether metrics have the tenant as an attribute: one more series of each for every tenant. @defaultValue false */
  tenants?: boolean;
}

/**
 * Traces and metrics of Waybill by the OpenTelemetry API. Each member goes to the part that it is for; what is not wrapped
 * makes no call of OpenTelemetry.
 */
export interface Instrumentation {
  /** Wraps what an engine is made of: spans with counts and sizes, times and errors of each call. */
  store(store: Store): Store;
  transport(transport: Transport): Transport;
  blobs(blobs: BlobStore): BlobStore;
  /** `EngineOptions.observer`: what the engine tells of itself. */
  readonly observer: EngineObserver;
  /**
   * Wraps the port of an engine or of a remote client: spans of enqueue, claim, publish and settle, the trace in each job's
   * meta, and counts of what runs say.
   */
  port(waybill: Waybill): Waybill;
  /** For workers, as their first middleware: a span for each run, active while the handler runs and while it is settled. */
  readonly middleware: Middleware;
  /** `AppOptions.observeRequest` of the server: a span for each request, times by route. */
  readonly request: RequestObserver;
  /** `AppOptions.observeStreams` of the server: how many readers follow now, and how many were cut off. */
  readonly streams: StreamObserver;
  /** `RemoteOptions.callHeaders` of a client: the trace that the call belongs to, for the server. */
  readonly headers: () => Record<string, string>;
  /** `SinkOptions.observe`, and `observe` of the webhooks: a span for each try to deliver, and how many were taken. */
  readonly delivery: DeliveryObserver;
  /** Counts spans that were dropped before a collector had them, for the program that sets the SDK up. */
  readonly droppedSpans: (spans: number, reason: string) => void;
  /** `observe` of the DynamoDB and SQS clients: what was asked of AWS, and how often in vain. */
  readonly aws: AwsObserver;
  /**
   * Queue depth, oldest age, dead letters, workers and paused sinks: gauges that are read from this port at most every 10
   * seconds, and how old they are. Without `tenant` they are of all tenants, summed unless the option `tenants` is on. One reading
   * takes 100 tenants and 200 queues at most; where there are more, all of them have their turn.
   */
  watch(waybill: Waybill, options?: { tenant?: string }): Watching;
}

export interface Watching {
  stop(): void;
}

/** The same shape as `AwsObserver` of @waybill/aws, which this package does not need. */
export interface AwsObserver {
  operation?(name: string): void;
  throttled?(name: string): void;
  batchRetried?(name: string): void;
}
