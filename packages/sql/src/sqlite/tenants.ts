import type { TenantQuery } from '@waybill/core';
import type { Input } from './protocol.ts';
import type { Session } from './session.ts';

export const listTenants = ({ sql }: Session, { after, limit }: TenantQuery): string[] =>
  sql['tenant-list'].all<[string]>(after, limit).map(([tenant]) => tenant);

export function setTenantLimit(session: Session, { tenant, concurrency }: Input<'setTenantLimit'>): null {
  if (concurrency === null) session.sql['tenant-unlimit'].run(tenant);
  else session.sql['tenant-limit'].run(tenant, concurrency);
  session.queueSettingsChanged();
  session.wakeTenant(tenant);
  return null;
}

/** How many more jobs of the tenant may start now, in whichever queue. */
export function tenantRoom(session: Session, tenant: string): number {
  if (!session.hasLimitedTenants()) return Number.POSITIVE_INFINITY;
  const found = session.sql['tenant-room'].get<[number]>(tenant);
  return found === undefined ? Number.POSITIVE_INFINITY : Math.max(0, found[0]);
}

/** Runs of the tenant began, or ended where the number is below zero. */
export function countTenantRuns(session: Session, tenant: string, runs: number): void {
  if (runs === 0 || !session.hasLimitedTenants()) return;
  const counted = session.sql['tenant-shift'].run(tenant, runs);
  // Somebody else may start now.
  if (counted.changes !== 0 && runs < 0) session.wakeTenant(tenant);
}
