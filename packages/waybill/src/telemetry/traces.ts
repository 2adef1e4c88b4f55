import type { Resource } from '@opentelemetry/resources';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { SdkTracerProvider } from '@waybill/telemetry/sdk';
import { CollectorConnections } from './collector-connections.ts';
import type { CollectorWatch } from './collector-watch.ts';
import { countedDrops, type DropReason } from './counted-drops.ts';
import { loadTraceExporter, loadTraceSdk } from './packages.ts';
import type { SamplerName, TelemetrySettings } from './settings.ts';

type TraceSettings = NonNullable<TelemetrySettings['traces']>;

/** A part of the SDK that runs. */
export interface Running<Provider> {
  provider: Provider;
  /** Sends what waits, and ends. */
  shutdown(): Promise<void>;
}

/** Batches that are under way at the same time; beyond that spans are dropped. */
const MOST_EXPORTS = 4;

/** Spans go to a collector in batches, from a queue that has a bound. */
export async function startTraces(
  { url, headers, compression, timeoutMs, shownUrl, sampler, maxQueueSize, delayMs }: TraceSettings,
  resource: Resource,
  watchOf: (signal: 'traces', endpoint: string) => CollectorWatch,
  onDropped: (spans: number, reason: DropReason) => void,
): Promise<Running<SdkTracerProvider>> {
  const { OTLPTraceExporter } = await loadTraceExporter();
  const sdk = await loadTraceSdk();
  type Compression = NonNullable<NonNullable<ConstructorParameters<typeof OTLPTraceExporter>[0]>['compression']>;
  const connections = new CollectorConnections({ url, timeoutMs });
  const exporter = new OTLPTraceExporter({
    httpAgentOptions: () => connections.agent,
    ...{ url, headers: { ...headers }, timeoutMillis: timeoutMs, concurrencyLimit: MOST_EXPORTS },
    compression: compression as Compression,
  });
  const processor = countedDrops({
    ...{ exporter: watchOf('traces', shownUrl).over(exporter, connections), maxQueueSize, onDropped },
    processorOver: (counted) =>
      new sdk.BatchSpanProcessor({
        ...{ exporter: counted, maxQueueSize, maxExportBatchSize: Math.min(512, maxQueueSize) },
        ...{ scheduledDelayMillis: delayMs, exportTimeoutMillis: timeoutMs + 500 },
      }),
  });
  const { lightTracerProvider } = await import('@waybill/telemetry/sdk');
  const provider = lightTracerProvider(sdk, {
    ...{ resource, sampler: samplerOf(sdk, sampler), spanProcessors: [processor] },
    spanLimits: { attributeValueLengthLimit: 4_096 },
  });
  return { provider, shutdown: () => provider.shutdown() };
}

function samplerOf(
  sdk: typeof import('@opentelemetry/sdk-trace'),
  { name, ratio }: { name: SamplerName; ratio: number },
): Sampler {
  const kind = name.replace('parentbased_', '');
  const root =
    kind === 'always_on'
      ? new sdk.AlwaysOnSampler()
      : kind === 'always_off'
        ? new sdk.AlwaysOffSampler()
        : new sdk.TraceIdRatioBasedSampler(ratio);
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}
