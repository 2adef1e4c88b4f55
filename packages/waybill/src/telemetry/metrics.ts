import type { Resource } from '@opentelemetry/resources';
import type { IMetricReader, MeterProvider } from '@opentelemetry/sdk-metrics';
import { CollectorConnections } from './collector-connections.ts';
import type { CollectorWatch } from './collector-watch.ts';
import { loadMetricExporter, loadMetricSdk, loadPrometheus } from './packages.ts';
import type { TelemetrySettings } from './settings.ts';
import type { Running } from './traces.ts';

interface Metrics extends Running<MeterProvider> {
  /** As Prometheus reads them; absent where nobody asked for that. */
  text?: () => Promise<string>;
}

/** How long the gauges may take when the metrics are read. */
const MOST_COLLECT_MS = 4_000;

/** Metrics go to a collector at an interval, or are read as a text, or both. Null: neither. */
export async function startMetrics(
  { otlp, prometheus }: TelemetrySettings['metrics'],
  resource: Resource,
  watchOf: (signal: 'metrics', endpoint: string) => CollectorWatch,
): Promise<Metrics | null> {
  if (otlp === null && !prometheus) return null;
  const readers: IMetricReader[] = [];
  if (otlp !== null) readers.push(await pushing(otlp, watchOf('metrics', otlp.shownUrl)));
  const read = prometheus ? await reading() : undefined;
  if (read) readers.push(read.reader);
  const { MeterProvider } = await loadMetricSdk();
  const provider = new MeterProvider({ resource, readers });
  return { provider, shutdown: () => provider.shutdown(), ...(read && { text: read.text }) };
}

async function pushing(
  { url, headers, compression, timeoutMs, intervalMs }: NonNullable<TelemetrySettings['metrics']['otlp']>,
  watch: CollectorWatch,
): Promise<IMetricReader> {
  const { OTLPMetricExporter } = await loadMetricExporter();
  const { PeriodicExportingMetricReader } = await loadMetricSdk();
  type Compression = NonNullable<NonNullable<ConstructorParameters<typeof OTLPMetricExporter>[0]>['compression']>;
  const connections = new CollectorConnections({ url, timeoutMs });
  const exporter = new OTLPMetricExporter({
    httpAgentOptions: () => connections.agent,
    ...{ url, headers: { ...headers }, timeoutMillis: timeoutMs, compression: compression as Compression },
  });
  return new PeriodicExportingMetricReader({
    ...{ exporter: watch.over(exporter, connections), exportIntervalMillis: intervalMs },
    exportTimeoutMillis: Math.min(timeoutMs + 500, intervalMs),
  });
}

/** The exporter of Prometheus without its own server: ours answers, to callers who may read metrics. */
async function reading(): Promise<{ reader: IMetricReader; text: () => Promise<string> }> {
  const { PrometheusExporter, PrometheusSerializer } = await loadPrometheus();
  const reader = new PrometheusExporter({ preventServerStart: true });
  const serializer = new PrometheusSerializer('', false, undefined, false, true);
  const collected = async (): Promise<string> => {
    const { resourceMetrics } = await reader.collect({ timeoutMillis: MOST_COLLECT_MS });
    return `${serializer.serialize(resourceMetrics)}\n`;
  };
  // Callers of the same moment share one text, so that many of them cost no more than one.
  let underway: Promise<string> | undefined;
  const text = (): Promise<string> => {
    underway ??= collected().finally(() => {
      underway = undefined;
    });
    return underway;
  };
  return { reader, text };
}
