import type { QueueStats, Waybill, WorkerInfo } from '@waybill/core';

/** Tenants beyond these are not counted: each costs several calls of the store. */
const MOST_TENANTS = 100;
/** Of all tenants together. */
const MOST_QUEUES = 200;
/** Tenants that are read at the same time. */
const AT_ONCE = 4;

/** What one tenant has. */
export interface TenantReading {
  tenant: string;
  queues: QueueStats[];
  dead: number;
  workers: WorkerInfo[];
}

export interface StoreReading {
  at: number;
  tenants: TenantReading[];
  /** Undefined: this port does not say. */
  pausedSinks: number | undefined;
}

/** What is in the store now, of one tenant or of the first hundred. */
export async function readStore(waybill: Waybill, tenant: string | undefined): Promise<StoreReading> {
  const names = tenant === undefined ? await tenantsOf(waybill) : [tenant];
  const found: TenantReading[] = [];
  let room = MOST_QUEUES;
  for (let from = 0; from < names.length; from += AT_ONCE) {
    const some = await Promise.all(names.slice(from, from + AT_ONCE).map((name) => readTenant(waybill, name, room)));
    found.push(...some);
    room = Math.max(0, room - some.reduce((sum, { queues }) => sum + queues.length, 0));
  }
  return { at: Date.now(), tenants: found, pausedSinks: await pausedSinks(waybill) };
}

/** The one without a name is always among them, so that an empty store shows zeros. */
async function tenantsOf({ tenants }: Waybill): Promise<string[]> {
  try {
    const { items } = await tenants.list({ limit: MOST_TENANTS });
    return [...new Set(['', ...items.map(({ tenant }) => tenant)])];
  } catch (error) {
    // A client whose key belongs to a tenant: the port is about that one.
    if ((error as { code?: unknown }).code === 'forbidden') return [''];
    throw error;
  }
}

async function readTenant({ queues, deadLetters, workers }: Waybill, tenant: string, room: number) {
  const all = await queues.list({ tenant });
  const [found, { total }, seen] = await Promise.all([
    // One that was removed in between has nothing to show.
    Promise.all(all.slice(0, room).map(({ name }) => queues.stats(name, { tenant }).catch(() => null))),
    deadLetters.stats({ tenant }),
    workers.list({ tenant }),
  ]);
  return { tenant, queues: found.filter((one) => one !== null), dead: total, workers: seen };
}

async function pausedSinks(waybill: Waybill): Promise<number | undefined> {
  if (waybill.sinks === undefined) return undefined;
  const { sinks = [] } = await waybill.health();
  return sinks.filter(({ status }) => status === 'paused').length;
}
