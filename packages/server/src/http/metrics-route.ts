import { ALL_TENANTS, type Principal, WaybillError } from '@waybill/core';
import type { App } from './env.ts';
import { principalOf } from './port.ts';

/** Reads the metrics of this process as a text of Prometheus. */
export type MetricsText = () => Promise<string>;

/** The version of the format that the exporter writes. */
const MEDIA_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** `GET /metrics` for Prometheus. The route is there also where metrics are off, and then says how to turn them on. */
export function metricsRoute(app: App, metrics: MetricsText | undefined): void {
  app.get('/metrics', async (c) => {
    checkMayRead(principalOf(c), c.get('caller') !== undefined);
    if (metrics === undefined) {
      const hint = 'Start it with --metrics, or set WAYBILL_METRICS=1.';
      throw new WaybillError('not_found', 'This server shows no metrics.', { hint });
    }
    return c.body(await metrics(), 200, { 'Content-Type': MEDIA_TYPE, 'Cache-Control': 'no-store' });
  });
}

/** They count the jobs of all tenants, under the names of all queues: a key that is narrower must not see them. */
function checkMayRead({ tenant, scopes, queues, types }: Principal, asksWho: boolean): void {
  if (!scopes.includes('metrics') && !scopes.includes('admin'))
    throw new WaybillError('forbidden', "The caller lacks the scope 'metrics'.");
  const isWhole = tenant === (asksWho ? ALL_TENANTS : '') && queues === undefined && types === undefined;
  if (isWhole) return;
  throw new WaybillError(
    'forbidden',
    'The metrics are those of all tenants, queues and types, and the caller has some.',
    {
      hint: "Use a key for all tenants that is not narrowed: waybill keys create prometheus --scopes metrics --tenant '*'.",
    },
  );
}
