import type { Told, WorkerBeat, WorkerDirective, WorkerInfo } from '@waybill/core';
import type { Base } from './base.ts';
import { absent, all, begins, equals, exists } from './conditions.ts';
import { type Item, text } from './items.ts';
import { partsOfKey, tenantPk, workerKey } from './keys.ts';
import { isGone, secondsOf } from './rows.ts';
import { writeAndTell } from './tell.ts';

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

export async function beat(base: Base, given: WorkerBeat): Promise<WorkerDirective> {
  const { tenant, id, activeJobs, instance, now, told } = given;
  const key = workerKey(tenant, id);
  const set = {
    ...{ aj: activeJobs, ls: now, x: secondsOf(now + KEPT_MS) },
    ...(instance !== undefined && { in: instance }),
  };
  const note = async () => {
    const isSame = instance === undefined ? exists('fs') : all(exists('fs'), equals('in', instance));
    const written = await base.db.write({ update: key, change: { set }, if: isSame });
    if (written.ok || !written.old || !('fs' in written.old)) return written;
    // Another instance of a worker that is known: it goes on, whatever the last one was told.
    return base.db.write({ update: key, change: { set: { ...set, di: 'running' } }, if: exists('fs') });
  };
  const known = await note();
  if (known.ok) return workerOf(known.item!).directive;
  const change = { set: { ...set, fs: now } };
  if (told) {
    return writeAndTell(base, told, async () => {
      // Two calls may have found that nobody knows it.
      const found = 'fs' in ((await base.db.get(key)) ?? {}) ? await note() : null;
      if (found?.ok) return { answer: workerOf(found.item!).directive, write: null };
      return { answer: 'running', write: { update: key, change, if: absent('fs') } };
    });
  }
  await base.db.write({ update: key, change });
  return 'running';
}

export async function direct(
  base: Base,
  tenant: string,
  id: string,
  directive: WorkerDirective,
  told?: Told,
): Promise<WorkerInfo | null> {
  const update = workerKey(tenant, id);
  const change = { set: { di: directive } };
  if (!told) {
    const written = await base.db.write({ update, change, if: exists('fs') });
    return written.ok ? workerOf(written.item!) : null;
  }
  return writeAndTell(base, told, async () => {
    const item = await base.db.get(update);
    if (!item || !('fs' in item)) return { answer: null, write: null };
    const before = workerOf(item);
    if (before.directive === directive) return { answer: before, write: null };
    const asRead = all(exists('fs'), equals('di', item['di'] ?? null));
    return { answer: { ...before, directive }, write: { update, change, if: asRead } };
  });
}

export async function listWorkers({ db, settings }: Base, tenant: string): Promise<WorkerInfo[]> {
  const items = await db.queryAll({ where: all(equals('pk', tenantPk(tenant)), begins('sk', 'H#')) });
  return items.filter((item) => !isGone(item, settings.clock.now())).map(workerOf);
}
