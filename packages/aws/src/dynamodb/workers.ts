import type { WorkerBeat, WorkerDirective, WorkerInfo } from '@waybill/core';
import type { Base } from './base.ts';
import { all, begins, equals, exists } from './conditions.ts';
import { type Item, text } from './items.ts';
import { partsOfKey, tenantPk, workerKey } from './keys.ts';
import { isGone, secondsOf } from './rows.ts';

const DAY_MS = 86_400_000;
/** A worker that nobody has heard of for this long is forgotten. */
const KEPT_MS = 7 * DAY_MS;

function workerOf(item: Item): WorkerInfo {
  const [tenant, id] = partsOfKey(item);
  return {
    tenant,
    id,
    activeJobs: item['aj'] as number,
    firstSeenAt: item['fs'] as number,
    lastSeenAt: item['ls'] as number,
    directive: (text(item, 'di') ?? 'running') as WorkerDirective,
  };
}

export async function beat(base: Base, { tenant, id, activeJobs, now }: WorkerBeat): Promise<WorkerDirective> {
  const key = workerKey(tenant, id);
  const set = { aj: activeJobs, ls: now, x: secondsOf(now + KEPT_MS) };
  const known = await base.db.write({ update: key, change: { set }, if: exists('fs') });
  if (known.ok) return workerOf(known.item!).directive;
  await base.db.write({ update: key, change: { set: { ...set, fs: now } } });
  return 'running';
}

export async function direct(
  base: Base,
  tenant: string,
  id: string,
  directive: WorkerDirective,
): Promise<WorkerInfo | null> {
  const update = workerKey(tenant, id);
  const told = await base.db.write({ update, change: { set: { di: directive } }, if: exists('fs') });
  return told.ok ? workerOf(told.item!) : null;
}

export async function listWorkers({ db, settings }: Base, tenant: string): Promise<WorkerInfo[]> {
  const items = await db.queryAll({ where: all(equals('pk', tenantPk(tenant)), begins('sk', 'H#')) });
  return items.filter((item) => !isGone(item, settings.clock.now())).map(workerOf);
}
