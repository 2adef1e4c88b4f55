import type { Told, WorkerBeat, WorkerDirective, WorkerInfo } from '@waybill/core';
import type { Base } from './base.ts';
import { absent, all, begins, equals, exists } from './conditions.ts';
import { type Item, text } from './items.ts';
import { partsOfKey, tenantPk, workerKey } from './keys.ts';
import { isGone, secondsOf } from './rows.ts';
import { unusedMsOf } from './settings.ts';
import { writeAndTell } from './tell.ts';

function workerOf(item: Item): WorkerInfo {
  const [tenant, id] = partsOfKey(item);
  return {
    tenant,
    id,
    activeJobs: item['aj'] as number,
    firstSeenAt: item['fs'] as number,
    lastSeenAt: item['ls'] as number,
    directive: heard(item),
  };
}

/** What the instance that was seen last was told: `dt` is the one that the directive was given to. */
const heard = (item: Item): WorkerDirective =>
  text(item, 'dt') === text(item, 'in') ? ((text(item, 'di') ?? 'running') as WorkerDirective) : 'running';

export async function beat(base: Base, given: WorkerBeat): Promise<WorkerDirective> {
  const { tenant, id, activeJobs, instance, now, told } = given;
  const key = workerKey(tenant, id);
  const set = {
    ...{ aj: activeJobs, ls: now, x: secondsOf(now + unusedMsOf(base.settings)) },
    ...(instance !== undefined && { in: instance }),
  };
  const note = () => base.db.write({ update: key, change: { set }, if: exists('fs') });
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
  /** For the instance that was seen last. */
  const changeOf = (item: Item) => {
    const instance = text(item, 'in');
    return { set: { di: directive, ...(instance !== null && { dt: instance }) } };
  };
  const read = async () => {
    const item = await base.db.get(update);
    return item && 'fs' in item ? item : null;
  };
  if (!told) {
    const item = await read();
    const written = item && (await base.db.write({ update, change: changeOf(item), if: exists('fs') }));
    return written?.ok ? workerOf(written.item!) : null;
  }
  return writeAndTell(base, told, async () => {
    const item = await read();
    if (!item) return { answer: null, write: null };
    const before = workerOf(item);
    if (before.directive === directive) return { answer: before, write: null };
    const asRead = all(exists('fs'), equals('di', item['di'] ?? null), equals('in', item['in'] ?? null));
    return { answer: { ...before, directive }, write: { update, change: changeOf(item), if: asRead } };
  });
}

export async function listWorkers({ db, settings }: Base, tenant: string): Promise<WorkerInfo[]> {
  const items = await db.queryAll({ where: all(equals('pk', tenantPk(tenant)), begins('sk', 'H#')) });
  return items.filter((item) => !isGone(item, settings.clock.now())).map(workerOf);
}
