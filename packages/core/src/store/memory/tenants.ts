import type { TenantQuery } from '../queues.ts';
import type { MemoryState } from './state.ts';

export function listTenants(state: MemoryState, { after, limit }: TenantQuery): string[] {
  const names = new Set([...state.queues.values()].map(({ info }) => info.tenant));
  return [...names]
    .filter((name) => after === null || name > after)
    .sort()
    .slice(0, limit);
}

export function setTenantLimit(state: MemoryState, tenant: string, concurrency: number | null): void {
  if (concurrency === null) state.tenantLimits.delete(tenant);
  else state.tenantLimits.set(tenant, concurrency);
  state.noteWakeOf(tenant);
}

/** How many more jobs of the tenant may start now, in whichever queue. */
export function roomOf(state: MemoryState, tenant: string): number {
  const concurrency = state.tenantLimits.get(tenant);
  if (concurrency === undefined) return Number.POSITIVE_INFINITY;
  const active = state.rows().filter((job) => job.tenant === tenant && job.state === 'active').length;
  return Math.max(0, concurrency - active);
}
