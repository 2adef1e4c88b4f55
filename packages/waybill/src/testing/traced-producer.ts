import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { connect } from '../sdk/connect.ts';
import { placeOrder } from './traced-tasks.ts';

/** A program of a user in a process of its own, with an SDK that is set up as any would be. Prints the ids of its trace. */
const [server = '', collector = ''] = process.argv.slice(2);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const provider = new TracerProvider({
  resource: resourceFromAttributes({ 'service.name': 'shop' }),
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${collector}/v1/traces` }) })],
});
trace.setGlobalTracerProvider(provider);

const waybill = await connect(server, { telemetry: true });
await trace.getTracer('shop').startActiveSpan('checkout', async (span) => {
  const { id } = await waybill.enqueue(placeOrder, { server });
  process.stdout.write(`${JSON.stringify({ id, traceId: span.spanContext().traceId })}\n`);
  span.end();
});
await waybill.close();
await provider.shutdown();
