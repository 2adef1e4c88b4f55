import type { Job } from '@waybill/core';
import type { Base } from './base.ts';
import { equals } from './conditions.ts';
import { type Item, number } from './items.ts';
import { tenantGateKey } from './keys.ts';
import { runNames, stillRunning } from './run-names.ts';
import type { Write } from './writes.ts';

/** A limit of a tenant and who runs under it. Ends are not crossed out, as under the limit of a queue. */
export interface TenantLimited {
  tenant: string;
  concurrency: number;
  version: number;
  running: string[];
}

/** The limit of a tenant as it was read; undefined: it has none. Whoever finds nothing to start need not read it. */
export type TenantItem = Item | undefined | 'unread';

/** Null: the tenant has no limit, or nobody has asked yet. */
export async function tenantLimitedOf(base: Base, tenant: string, item: TenantItem): Promise<TenantLimited | null> {
  if (item === 'unread') return null;
  const concurrency = item ? number(item, 'cc') : null;
  base.queues.noteTenantLimited(tenant, concurrency !== null);
  if (concurrency === null) return null;
  const { version, noted } = await readTenantGate(base, tenant);
  return { tenant, concurrency, version, running: await stillRunning(base, tenant, noted) };
}

export async function readTenantGate(base: Base, tenant: string): Promise<{ version: number; noted: string[] }> {
  const found = (await base.db.get(tenantGateKey(tenant))) ?? {};
  return { version: number(found, 'v') ?? 0, noted: (found['ru'] as string[] | undefined) ?? [] };
}

export const roomUnder = ({ concurrency, running }: TenantLimited): number => Math.max(0, concurrency - running.length);

/** Goes into the transaction that begins the runs. */
export const startInTenant = ({ tenant, version, running }: TenantLimited, jobs: readonly Job[]): Write =>
  tenantGateWrite(tenant, version, [...running, ...runNames(jobs)]);

export const tenantGateWrite = (tenant: string, version: number, running: readonly string[]): Write => ({
  put: { ...tenantGateKey(tenant), v: version + 1, ru: running },
  if: equals('v', version === 0 ? null : version),
});
