import { randomUUID } from 'node:crypto';
import type { Logger } from '@waybill/core';
import type { Instrumentation } from '@waybill/telemetry';
import { CollectorWatch } from './collector-watch.ts';
import { startMetrics } from './metrics.ts';
import { loadContextManager, loadResources } from './packages.ts';
import { readTelemetrySettings, type TelemetryAsked } from './settings.ts';
import { startTraces } from './traces.ts';

/** The telemetry of this process, running. */
export interface Telemetry {
  readonly instrumentation: Instrumentation;
  /** The same logger, whose lines have the ids of the active span. */
  readonly logger: Logger;
  /** The metrics as Prometheus reads them; absent unless asked for. */
  readonly metrics?: () => Promise<string>;
  /** Sends what waits. Never fails, and takes 5 seconds at most. */
  stop(): Promise<void>;
}

export interface StartTelemetry extends Omit<TelemetryAsked, 'logger'> {
  logger: Logger;
  version: string;
}

const MOST_STOP_MS = 5_000;

/**
 * Sets the SDK up as the environment asks for it. Undefined: nothing was asked for, and nothing of OpenTelemetry was
 * loaded, its API included.
 */
export async function startTelemetry({ version, ...asked }: StartTelemetry): Promise<Telemetry | undefined> {
  const settings = readTelemetrySettings(asked);
  if (settings === null) return undefined;
  const { logger } = asked;
  const { defaultResource, resourceFromAttributes } = await loadResources();
  const { AsyncLocalStorageContextManager } = await loadContextManager();
  const { instrument, registerSdk, tracedLogger } = await import('@waybill/telemetry');
  const own = { 'service.version': version, 'service.instance.id': randomUUID() };
  const resource = defaultResource().merge(resourceFromAttributes({ ...own, ...settings.resource }));
  const watches: CollectorWatch[] = [];
  const watchOf = (signal: 'traces' | 'metrics', endpoint: string): CollectorWatch => {
    const watch = new CollectorWatch({ signal, endpoint }, logger);
    watches.push(watch);
    return watch;
  };
  const onDropped = (spans: number, reason: string): void => instrumentation.droppedSpans(spans, reason);
  const traces = settings.traces && (await startTraces(settings.traces, resource, watchOf, onDropped));
  const metrics = await startMetrics(settings.metrics, resource, watchOf);

  const providers = {
    ...(traces && { tracerProvider: traces.provider }),
    ...(metrics && { meterProvider: metrics.provider }),
  };
  const unregister = registerSdk({ contextManager: new AsyncLocalStorageContextManager().enable(), ...providers });
  const instrumentation = instrument(providers);
  const running = [traces, metrics].filter((one) => one !== null);
  return {
    instrumentation,
    logger: tracedLogger(logger),
    ...(metrics?.text && { metrics: metrics.text }),
    stop: async () => {
      for (const watch of watches) watch.close();
      await within(MOST_STOP_MS, Promise.allSettled(running.map((one) => one.shutdown())));
      for (const watch of watches) watch.end();
      unregister();
    },
  };
}

/** Waits for work, but no longer than this. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, bound]);
  clearTimeout(timer);
}
