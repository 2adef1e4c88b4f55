import type { HealthChecks } from '@waybill/core';
import { healthReportFromWire, jobHealthFromWire, type WireHealthReport, type WireJobHealth } from '../check-wire.ts';
import { path } from './address.ts';
import type { Calls } from './calls.ts';

export const checks = (calls: Calls): HealthChecks => ({
  run: async ({ server, ...context } = {}) => {
    const tenant = calls.tenantOf(context);
    const query = { server: server === false ? 'false' : undefined };
    const report = await calls.call<WireHealthReport>('GET', '/health/checks', { tenant, query });
    return healthReportFromWire(report, calls.whose(tenant));
  },
  job: async (id, context) => {
    const tenant = calls.tenantOf(context);
    return jobHealthFromWire(
      (await calls.call<{ job: WireJobHealth }>('GET', path`/health/jobs/${id}`, { tenant })).job,
    );
  },
});
