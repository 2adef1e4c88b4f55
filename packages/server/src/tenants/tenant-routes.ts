import { tenantFromPath, tenantStatsToWire, tenantToWire } from '@waybill/client';
import { checkTenant, type Fields, invalidField, type TenantLimits, tenantNotFound, type Waybill } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';
import { pagination } from '../ojs/pagination.ts';
import type { Surface } from '../surface.ts';

const DEFAULT_LIMIT = 100;
const LONGEST_MS = 366 * 86_400_000;
const LIMIT_NAMES = ['waiting', 'enqueue_rate', 'concurrency'];

/**
 * Tenants as wholes: their statistics, and what they may have. `operator`: the port for everybody, on a server that asks
 * nobody for a key; there a caller may set the limits of the tenant that its header names.
 */
export function tenantRoutes(app: App, { maxBodyBytes }: Surface, operator: Waybill | undefined): void {
  app.get('/waybill/v1/tenants', async (c) => {
    const page = new Query(c, ['limit', 'cursor']).page(DEFAULT_LIMIT);
    const { items, cursor } = await (operator ?? portOf(c)).tenants.list(page);
    return answer(c, { tenants: items.map(tenantToWire), pagination: pagination(page.limit, cursor) });
  });

  app.get('/waybill/v1/tenants/:tenant', async (c) =>
    answer(c, { tenant: tenantStatsToWire(await portOf(c).tenants.stats(nameIn(c))) }),
  );

  app.put('/waybill/v1/tenants/:tenant/limits', async (c) => {
    const tenant = nameIn(c);
    const limits = limitsIn(await readBody(c, maxBodyBytes));
    if (operator && tenant !== c.get('tenant')) throw tenantNotFound(tenant);
    return answer(c, { tenant: tenantToWire(await (operator ?? portOf(c)).tenants.setLimits(tenant, limits)) });
  });
}

const nameIn = (c: Ctx): string => checkTenant(tenantFromPath(c.req.param('tenant') ?? ''), 'tenant');

/** An absent limit stays as it is, null takes it away. How large each may be is the engine's to say. */
function limitsIn(body: Fields): Partial<TenantLimits> {
  body.refuseUnknown(LIMIT_NAMES);
  const number = (name: string) => (body.isNull(name) ? null : body.integer(name, { min: 1, max: 1_000_000_000 }));
  const [waiting, concurrency, enqueueRate] = [number('waiting'), number('concurrency'), rateIn(body)];
  if (waiting === undefined && concurrency === undefined && enqueueRate === undefined)
    throw invalidField('body', `must have at least one of ${LIMIT_NAMES.join(', ')}.`, { allowed: LIMIT_NAMES });
  return {
    ...(waiting !== undefined && { waiting }),
    ...(enqueueRate !== undefined && { enqueueRate }),
    ...(concurrency !== undefined && { concurrency }),
  };
}

function rateIn(body: Fields): TenantLimits['enqueueRate'] | undefined {
  if (body.isNull('enqueue_rate')) return null;
  const rate = body.fields('enqueue_rate');
  if (rate === undefined) return undefined;
  rate.refuseUnknown(['limit', 'period', 'period_ms']);
  const limit = rate.integer('limit', { min: 1, max: 1_000_000_000 });
  const periodMs = rate.durationOrMs('period', { max: LONGEST_MS });
  if (limit === undefined) throw invalidField(rate.name('limit'), 'is required.');
  if (periodMs === undefined) throw invalidField(rate.name('period_ms'), 'is required.');
  return { limit, periodMs };
}
