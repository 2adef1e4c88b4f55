import type { BatchSpanProcessor, ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';

/** Why spans did not reach the collector: too many waited to be sent, or a batch could not be sent. */
export type DropReason = 'queue_full' | 'export_failed';

export interface CountedDropsOptions {
  exporter: SpanExporter;
  /** Spans that may wait. */
  maxQueueSize: number;
  /** Makes the SDK's processor over this exporter. */
  processorOver(exporter: SpanExporter): BatchSpanProcessor;
  onDropped(spans: number, reason: DropReason): void;
}

/** As `TraceFlags.SAMPLED` of the API; the processor takes no other spans. */
const SAMPLED = 1;

/**
 * The SDK's batch processor, which drops spans in silence, with a count of what it drops. A span that finds no room costs
 * nothing but that: counts are told with the next batch.
 */
export function countedDrops({ exporter, maxQueueSize, processorOver, onDropped }: CountedDropsOptions): SpanProcessor {
  let waiting = 0;
  let refused = 0;
  const tellRefused = (): void => {
    if (refused > 0) onDropped(refused, 'queue_full');
    refused = 0;
  };
  const send = exporter.export.bind(exporter);
  const processor = processorOver(
    Object.assign(exporter, {
      export: (spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): void => {
        waiting -= spans.length;
        tellRefused();
        send(spans, (result) => {
          if (result.code !== 0) onDropped(spans.length, 'export_failed');
          done(result);
        });
      },
    }),
  );
  return {
    onStart: () => {},
    onEnd: (span) => {
      if ((span.spanContext().traceFlags & SAMPLED) === 0) return;
      if (waiting >= maxQueueSize) refused += 1;
      else {
        waiting += 1;
        processor.onEnd(span);
      }
    },
    forceFlush: () => processor.forceFlush(),
    shutdown: async () => {
      await processor.shutdown();
      tellRefused();
    },
  };
}
