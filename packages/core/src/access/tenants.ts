import { WaybillError } from '../errors.ts';
import { tenantNotFound } from '../tenants/tenants.ts';
import type { Tenants, Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';

const WHY = 'a tenant has every queue and type';

/** A tenant may look at itself, and never lifts its own limits: these are an operator's. */
export function scopedTenants({ tenants }: Waybill, caller: Caller): Tenants {
  const mustOwn = (tenant: string): string => {
    caller.need('read');
    if (!caller.owns(tenant)) throw tenantNotFound(tenant);
    caller.needAll(WHY);
    return tenant;
  };
  return {
    list: async (query) => {
      caller.need('read');
      if (!caller.isForAll || caller.isNarrowed) throw operatorsOnly('list tenants');
      return tenants.list(query);
    },
    get: async (tenant) => tenants.get(mustOwn(tenant)),
    stats: async (tenant) => tenants.stats(mustOwn(tenant)),
    setLimits: async (tenant, limits) => {
      if (!caller.isOperator) throw operatorsOnly('set the limits of a tenant');
      return tenants.setLimits(tenant, limits);
    },
  };
}

const operatorsOnly = (what: string): WaybillError =>
  new WaybillError('forbidden', `Only operators may ${what}.`, {
    hint: 'Use a key for all tenants, or ask somebody who has one.',
  });
