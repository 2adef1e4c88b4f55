import { setFlagsFromString } from 'node:v8';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { defaultResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import * as sdk from '@opentelemetry/sdk-trace';
import { engine } from '@waybill/core';
import { instrument } from '@waybill/telemetry';
import { lightTracerProvider, type SdkTracerProvider } from '@waybill/telemetry/sdk';
import type { System } from '../queue.ts';
import { type Around, open, toldFast } from './waybill.ts';

// All systems here run in a process as the command has it, the one without telemetry included.
setFlagsFromString('--no-allocation-site-pretenuring');

const nothing = async (): Promise<void> => {};
const done = (_: unknown, tell: (result: { code: number }) => void): void => tell({ code: 0 });

/** Takes everything and sends nothing, so that only our part and the SDK's are measured. */
const spanExporter: sdk.SpanExporter = { export: done, forceFlush: nothing, shutdown: nothing };
const metricExporter: PushMetricExporter = {
  ...{ export: done, forceFlush: nothing, shutdown: nothing },
  selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE,
};

/** As `OTEL_TRACES_SAMPLER=parentbased_traceidratio` has it. */
function tracing(sampled: number, { isLight }: { isLight: boolean }): SdkTracerProvider {
  const options = {
    resource: defaultResource(),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(sampled) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: spanExporter })],
  };
  return isLight ? lightTracerProvider(sdk, options) : new sdk.TracerProvider(options);
}

function around(tracerProvider?: SdkTracerProvider): Around {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const readers = [new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 10_000 })];
  const meterProvider = new MeterProvider({ readers });
  const own = instrument({ meterProvider, ...(tracerProvider && { tracerProvider }) });
  return {
    engine: ({ store, ...options }) =>
      own.port(engine({ ...options, store: own.store(store), observer: own.observer })),
    middleware: [own.middleware],
    close: async () => {
      await tracerProvider?.shutdown();
      await meterProvider.shutdown();
    },
  };
}

const ONE_IN_TEN = 0.1;
const settings = `${toldFast}, history, events and fencing on, V8 as the command sets it`;

export const waybillTelemetry: System = {
  settings: `${settings}, metrics, one trace in ten, exporters that send nothing`,
  keepsFinished: true,
  open: ({ store }) => open(store, undefined, undefined, around(tracing(ONE_IN_TEN, { isLight: true }))),
};

export const waybillAllTraced: System = {
  settings: `${settings}, metrics, every trace, exporters that send nothing`,
  keepsFinished: true,
  open: ({ store }) => open(store, undefined, undefined, around(tracing(1, { isLight: true }))),
};

/** As a program has it that sets the SDK up by itself. */
export const waybillTracedBySdk: System = {
  settings: `${settings}, metrics, every trace, the tracer provider of the SDK, exporters that send nothing`,
  keepsFinished: true,
  open: ({ store }) => open(store, undefined, undefined, around(tracing(1, { isLight: false }))),
};

/** As `OTEL_TRACES_EXPORTER=none` has it. */
export const waybillMetrics: System = {
  settings: `${settings}, metrics, no traces, exporters that send nothing`,
  keepsFinished: true,
  open: ({ store }) => open(store, undefined, undefined, around()),
};

export const waybillUntraced: System = { settings, keepsFinished: true, open: ({ store }) => open(store) };
