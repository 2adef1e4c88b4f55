import { type Logger, WaybillError } from '@waybill/core';
import { type OtlpTarget, otlpTarget } from './otlp-target.ts';
import { type Env, flagIn, pairsIn, shown, textIn, unknownValue, wholeIn } from './variables.ts';

export interface TelemetryAsked {
  env: Env;
  /** What this process is called, unless OTEL_SERVICE_NAME says otherwise. */
  serviceName: string;
  /** Whether the metrics shall be read at `/metrics`, as Prometheus does it. @defaultValue as the environment says */
  metrics?: boolean;
  logger: Pick<Logger, 'info' | 'warn'>;
}

/** What of this process is sent where. */
export interface TelemetrySettings {
  resource: Readonly<Record<string, string>>;
  traces: (OtlpTarget & TraceSettings) | null;
  metrics: { otlp: (OtlpTarget & { intervalMs: number }) | null; prometheus: boolean };
}

interface TraceSettings {
  sampler: { name: SamplerName; ratio: number };
  /** Spans that wait to be sent; those beyond are dropped. */
  maxQueueSize: number;
  delayMs: number;
}

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

/** Null: nothing is asked for, and so nothing of OpenTelemetry is loaded. */
export function readTelemetrySettings({ env, serviceName, metrics, logger }: TelemetryAsked): TelemetrySettings | null {
  const isOff = flagIn(env, 'OTEL_SDK_DISABLED');
  const traceExporters = exportersIn(env, 'OTEL_TRACES_EXPORTER', ['otlp']);
  const metricExporters = exportersIn(env, 'OTEL_METRICS_EXPORTER', ['otlp', 'prometheus']);
  const targetOf = (signal: 'TRACES' | 'METRICS', exporters: readonly string[] | undefined): OtlpTarget | null => {
    if (isOff || (exporters && !exporters.includes('otlp'))) return null;
    const target = otlpTarget(env, signal, logger);
    if (target === null && exporters) {
      const facts = { variable: `OTEL_${signal}_EXPORTER` };
      logger.warn(facts, 'No telemetry is sent, because OTEL_EXPORTER_OTLP_ENDPOINT is not set.');
    }
    return target;
  };
  const tracesTo = targetOf('TRACES', traceExporters);
  const metricsTo = targetOf('METRICS', metricExporters);
  // As everywhere in the command, a flag beats the environment.
  const prometheus =
    metrics ?? (!isOff && (flagIn(env, 'WAYBILL_METRICS') || (metricExporters?.includes('prometheus') ?? false)));
  if (tracesTo === null && metricsTo === null && !prometheus) return null;
  return {
    resource: resourceOf(env, serviceName),
    traces: tracesTo && { ...tracesTo, ...traceSettings(env) },
    metrics: {
      otlp: metricsTo && { ...metricsTo, intervalMs: wholeIn(env, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000) },
      prometheus,
    },
  };
}

function traceSettings(env: Env): TraceSettings {
  return {
    sampler: samplerIn(env),
    maxQueueSize: wholeIn(env, 'OTEL_BSP_MAX_QUEUE_SIZE', 2_048, 1_000_000),
    delayMs: wholeIn(env, 'OTEL_BSP_SCHEDULE_DELAY', 5_000),
  };
}

/** OTEL_SERVICE_NAME beats OTEL_RESOURCE_ATTRIBUTES, which beats the name that the command gives. */
function resourceOf(env: Env, serviceName: string): Record<string, string> {
  const given = pairsIn('OTEL_RESOURCE_ATTRIBUTES', textIn(env, 'OTEL_RESOURCE_ATTRIBUTES') ?? '');
  const named = textIn(env, 'OTEL_SERVICE_NAME');
  return { 'service.name': serviceName, ...given, ...(named !== undefined && { 'service.name': named }) };
}

function samplerIn(env: Env): { name: SamplerName; ratio: number } {
  const text = textIn(env, 'OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const name = SAMPLERS.find((one) => one === text);
  if (name === undefined) throw unknownValue('OTEL_TRACES_SAMPLER', text, SAMPLERS);
  const arg = name.endsWith('ratio') ? textIn(env, 'OTEL_TRACES_SAMPLER_ARG') : undefined;
  const ratio = Number(arg ?? 1);
  if (ratio >= 0 && ratio <= 1) return { name, ratio };
  throw new WaybillError(
    'invalid_request',
    `OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not '${shown(arg)}'.`,
  );
}

/** Undefined: nothing is said. The standard allows several, separated by commas; `none` stands alone. */
function exportersIn(env: Env, name: string, known: readonly string[]): readonly string[] | undefined {
  const text = textIn(env, name);
  if (text === undefined) return undefined;
  const names = text.split(',').flatMap((one) => one.trim() || []);
  const stranger = names.find((one) => one !== 'none' && !known.includes(one));
  if (stranger !== undefined) throw unknownValue(name, stranger, [...known, 'none']);
  return names.filter((one) => one !== 'none');
}
