import {
  type ContextManager,
  context,
  type MeterProvider,
  metrics,
  propagation,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { w3cPropagator } from './trace/w3c-propagator.ts';

/** What an SDK brings. */
export interface SdkParts {
  contextManager: ContextManager;
  tracerProvider?: TracerProvider | undefined;
  meterProvider?: MeterProvider | undefined;
}

/**
 * Registers an SDK with the OpenTelemetry API, so that handlers and the libraries that they use see the span of their run
 * and can add to it. What a program has registered before stays. Answers what takes it out again.
 */
export function registerSdk({ contextManager, tracerProvider, meterProvider }: SdkParts): () => void {
  const undo: (() => void)[] = [];
  if (context.setGlobalContextManager(contextManager)) undo.push(() => context.disable());
  if (tracerProvider && propagation.setGlobalPropagator(w3cPropagator)) undo.push(() => propagation.disable());
  if (tracerProvider && trace.setGlobalTracerProvider(tracerProvider)) undo.push(() => trace.disable());
  if (meterProvider && metrics.setGlobalMeterProvider(meterProvider)) undo.push(() => metrics.disable());
  return () => {
    for (const step of undo.splice(0)) step();
  };
}
