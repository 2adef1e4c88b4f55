import type { Page, TenantInfo, Tenants } from '@waybill/core';
import {
  tenantFromWire,
  tenantLimitsToWire,
  tenantStatsFromWire,
  tenantToPath,
  type WireTenant,
  type WireTenantStats,
} from '../tenant-info-wire.ts';
import { path } from './address.ts';
import type { Calls } from './calls.ts';

interface TenantPage {
  tenants: WireTenant[];
  pagination: { cursor?: string };
}

/** Each call about a tenant also names it by the header, as a server without keys wants it. */
export function tenants(calls: Calls): Tenants {
  const stats = async (name: string) => {
    const tenant = calls.tenantOf({ tenant: name });
    const where = path`/waybill/v1/tenants/${tenantToPath(tenant)}`;
    const { tenant: found } = await calls.call<{ tenant: WireTenantStats }>('GET', where, { tenant });
    return tenantStatsFromWire(found);
  };
  return {
    list: async ({ limit, cursor } = {}) => {
      const answer = await calls.call<TenantPage>('GET', '/waybill/v1/tenants', { query: { limit, cursor } });
      const page: Page<TenantInfo> = { items: answer.tenants.map(tenantFromWire) };
      const { cursor: next } = answer.pagination;
      return next === undefined ? page : { ...page, cursor: next };
    },
    get: async (name) => {
      const { tenant, limits } = await stats(name);
      return { tenant, limits };
    },
    stats,
    setLimits: async (name, limits) => {
      const tenant = calls.tenantOf({ tenant: name });
      const where = path`/waybill/v1/tenants/${tenantToPath(tenant)}/limits`;
      // The same limits again change nothing.
      const asked = { tenant, body: tenantLimitsToWire(limits), repeatable: true };
      return tenantFromWire((await calls.call<{ tenant: WireTenant }>('PUT', where, asked)).tenant);
    },
  };
}
