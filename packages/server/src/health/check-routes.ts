import { healthReportToWire, jobHealthToWire } from '@waybill/client';
import type { Waybill } from '@waybill/core';
import { answer } from '../http/answer.ts';
import type { App } from '../http/env.ts';
import { pathId } from '../http/path-id.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';

/**
 * Looks at what is the caller's. Unlike `/health` not for strangers: it names jobs and queues, and reads the store.
 * `operator`: the port for everybody, on a server that asks nobody for a key.
 */
export function checkRoutes(app: App, operator: Waybill | undefined): void {
  app.get('/health/checks', async (c) => {
    const server = new Query(c, ['server']).oneOf('server', ['true', 'false'] as const) !== 'false';
    const report = operator
      ? await operator.checks.run({ tenant: c.get('tenant') ?? '', server })
      : await portOf(c).checks.run({ server });
    return answer(c, healthReportToWire(report));
  });

  app.get('/health/jobs/:id', async (c) => answer(c, { job: jobHealthToWire(await portOf(c).checks.job(pathId(c))) }));
}
