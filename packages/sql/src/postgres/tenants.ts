import type { TenantQuery } from '@waybill/core';
import type { Base } from './base.ts';

export async function listTenants({ link, sql }: Base, { after, limit }: TenantQuery): Promise<string[]> {
  return (await link.query<[string]>(sql['tenant-list'], [after, limit])).map(([tenant]) => tenant);
}

export async function setTenantLimit(base: Base, tenant: string, concurrency: number | null): Promise<void> {
  const { link, sql } = base;
  // An insert must not wait for claims that follow each other; the next claim tells again which queues have no limit.
  base.unlimited.clear();
  if (concurrency === null) await link.query(sql['tenant-unlimit'], [tenant]);
  else await link.query(sql['tenant-limit'], [tenant, concurrency]);
  const ready = await link.query<[string]>(sql['tenant-ready'], [tenant]);
  if (ready.length > 0) link.wake(ready.map(([name]) => name));
}
