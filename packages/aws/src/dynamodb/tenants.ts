import { type Job, type TenantQuery, WaybillError } from '@waybill/core';
import type { Base } from './base.ts';
import { equals } from './conditions.ts';
import { inParallel } from './database.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { type Item, number } from './items.ts';
import { idlePartition, partsOfKey, tenantLimitKey } from './keys.ts';
import { inChunks } from './list.ts';
import { MOST_CONCURRENT, runNames } from './run-names.ts';
import { runsUnderWay } from './runs-under-way.ts';
import { readTenantGate, tenantGateWrite } from './tenant-gate.ts';

/** Rows looked at for runs whose alarms may not be in the index yet. */
const MOST_LOOKED_AT = 10_000;

export async function setTenantLimit(base: Base, tenant: string, concurrency: number | null): Promise<void> {
  if ((concurrency ?? 0) > MOST_CONCURRENT) {
    throw new WaybillError(
      'unsupported',
      `On DynamoDB a tenant runs at most ${MOST_CONCURRENT} jobs at once by a limit.`,
    );
  }
  const key = tenantLimitKey(tenant);
  const before = await base.db.get(key);
  if (concurrency === null) await base.db.write({ delete: key });
  else {
    // Runs that begin from now on are noted, those from before are added to them.
    await base.db.write({ put: { ...key, cc: concurrency } });
    if (!before || number(before, 'cc') === null) await addRunning(base, tenant);
  }
  base.queues.noteTenantLimited(tenant, concurrency !== null);
  base.wakes.all();
}

async function addRunning(base: Base, tenant: string): Promise<void> {
  const running = new Set([...(await runsUnderWay(base, tenant, null)), ...runNames(await newestActive(base, tenant))]);
  for (let round = 0; round < MOST_TRIES; round++) {
    const { version, noted } = await readTenantGate(base, tenant);
    if (await base.db.writeOnce(tenantGateWrite(tenant, version, [...new Set([...noted, ...running])]))) return;
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The limit of the tenant '${tenant}'`);
}

async function newestActive(base: Base, tenant: string): Promise<Job[]> {
  const found: Job[] = [];
  for await (const chunk of inChunks(base, { tenant }, undefined, () => MOST_LOOKED_AT)) {
    found.push(...chunk.flatMap(({ job }) => job ?? []));
    if (found.length >= MOST_LOOKED_AT) break;
  }
  return found.filter((job) => job.state === 'active');
}

/** By the queues that are noted for pruning, since every queue that had a job is, and nothing else has them by tenant. */
export async function listTenants(base: Base, { after, limit }: TenantQuery): Promise<string[]> {
  const shards = Array.from({ length: base.settings.dueShards }, (_, shard) => idlePartition(shard));
  const found = await inParallel(shards, (shard) => tenantsIn(base, shard));
  const names = [...new Set(found.flat())].filter((name) => after === null || name > after);
  return names.sort().slice(0, limit);
}

async function tenantsIn(base: Base, shard: string): Promise<string[]> {
  const names = new Set<string>();
  let last: Item | undefined;
  do {
    const page = await base.db.query({ index: 'due', where: equals('dp', shard), ...(last && { after: last }) });
    for (const item of page.items) names.add(partsOfKey(item)[0]);
    last = page.last;
  } while (last);
  return [...names];
}
