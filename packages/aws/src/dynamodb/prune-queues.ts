import type { Base } from './base.ts';
import { absent, all, atMost, equals } from './conditions.ts';
import { inParallel } from './database.ts';
import { type Item, keyOf, number } from './items.ts';
import { idlePartition, partsOfKey, readyPartition } from './keys.ts';
import { idleFrom, nameOf } from './queue-book.ts';

/** The columns of a queue's settings: somebody has set it up, so it stays. */
const SETTINGS = ['pa', 'kn', 'ru'] as const;

/**
 * Removes queues that nobody has used for as long as the retention says, slice by slice; answers how many went and whether
 * there may be more. A queue with a setting stays, and so does one with a job that can be claimed. Jobs that wait for a time,
 * a slot or another job are not looked for: they need no item of their queue, and their ends make one.
 */
export async function pruneQueues(base: Base, limit: number): Promise<{ removed: number; more: boolean }> {
  const now = base.settings.clock.now();
  const shards = Array.from({ length: base.settings.dueShards }, (_, shard) => idlePartition(shard));
  const pages = await inParallel(shards, (shard) =>
    base.db.query({ index: 'due', where: all(equals('dp', shard), atMost('dn', now)), limit }),
  );
  const found = pages.flatMap(({ items }) => items);
  const gone = await inParallel(found.slice(0, limit), (entry) => removeOrKeep(base, entry, now));
  const more = found.length > limit || pages.some(({ last }) => last !== undefined);
  return { removed: gone.filter(Boolean).length, more };
}

async function removeOrKeep(base: Base, entry: Item, now: number): Promise<boolean> {
  const key = keyOf(entry);
  const item = await base.db.get(key);
  const dn = (item && number(item, 'dn')) ?? null;
  // The index may be late: the queue is gone, or was used since.
  if (!item || dn === null || dn > now) return false;
  const [tenant, queue] = partsOfKey(item);
  if (SETTINGS.some((column) => column in item) || (await isNeeded(base, tenant, queue, item))) {
    const idle = idleFrom(nameOf(tenant, queue), now, base.settings);
    await base.db.write({ update: key, change: { set: idle }, if: equals('dn', dn) });
    return false;
  }
  const asRead = all(equals('dn', dn), ...SETTINGS.map((column) => absent(column)));
  const removed = await base.db.write({ delete: key, if: asRead });
  base.queues.forget(tenant, queue);
  return removed.ok;
}

/** Whether a job of it can be claimed, or it has more shards than this process would look into without the item. */
async function isNeeded({ db, settings }: Base, tenant: string, queue: string, item: Item): Promise<boolean> {
  const shards = number(item, 'sh') ?? 1;
  if (shards > settings.shardsOf(queue)) return true;
  if (!settings.claimsByRank) return false;
  const lines = await inParallel(
    Array.from({ length: shards }, (_, shard) => readyPartition(tenant, queue, shard)),
    (partition) => db.query({ index: 'ready', where: equals('rq', partition), limit: 1 }),
  );
  return lines.some(({ items }) => items.length > 0);
}
