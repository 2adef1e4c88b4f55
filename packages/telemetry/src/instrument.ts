import { metrics, trace } from '@opentelemetry/api';
import { checkNames } from '@waybill/core';
import { requestSpans } from './http/request-spans.ts';
import type { Instrumentation, InstrumentOptions } from './instrumentation.ts';
import { engineMetrics } from './metrics/engine-metrics.ts';
import { Instruments } from './metrics/instruments.ts';
import { streamMetrics } from './metrics/stream-metrics.ts';
import { watch } from './metrics/watch.ts';
import { activeHeaders, observedPort } from './port/observed-port.ts';
import { runSpans } from './run/run-spans.ts';
import { deliverySpans } from './sink/delivery-spans.ts';
import { observedStore } from './store/observed-store.ts';
import { observedBlobs, observedTransport } from './store/observed-transport.ts';
import { INSTRUMENTATION } from './trace/attributes.ts';
import { Spans } from './trace/spans.ts';

const OPTIONS: Readonly<Record<keyof InstrumentOptions, true>> = {
  ...{ tracerProvider: true, meterProvider: true, tenants: true },
};

/**
 * By the providers that are given, else by those that are registered with the OpenTelemetry API: register yours first,
 * since metrics of a provider that comes later are lost.
 */
export function instrument(options: InstrumentOptions = {}): Instrumentation {
  checkNames('instrument()', options, Object.keys(OPTIONS));
  const { tracerProvider = trace.getTracerProvider(), meterProvider = metrics.getMeterProvider(), tenants } = options;
  const spans = new Spans(tracerProvider, INSTRUMENTATION);
  const instruments = new Instruments(meterProvider.getMeter(INSTRUMENTATION), { tenants: tenants ?? false });
  const parts = { spans, instruments };
  return {
    store: (store) => observedStore(store, parts),
    transport: (transport) => observedTransport(transport, parts),
    blobs: (blobs) => observedBlobs(blobs, parts),
    observer: engineMetrics(instruments),
    port: (waybill) => observedPort(waybill, parts),
    middleware: runSpans(spans, instruments),
    request: requestSpans(spans, instruments),
    streams: streamMetrics(instruments),
    headers: activeHeaders,
    delivery: deliverySpans(spans, instruments),
    droppedSpans: (dropped, reason) => instruments.tell('spansDropped', dropped, { reason }),
    aws: {
      operation: (operation) => instruments.tell('dynamoOperations', 1, { operation }),
      throttled: (operation) => instruments.tell('dynamoThrottles', 1, { operation }),
      batchRetried: (operation) => instruments.tell('dynamoBatchRetries', 1, { operation }),
    },
    watch: (waybill, { tenant } = {}) => watch(waybill, instruments, { tenant }),
  };
}
