import { type PruneSlice, USE_NOTED_EVERY_MS } from '@waybill/core';
import type { Base } from './base.ts';
import { keyOf } from './keys.ts';

/** Removes workers, limits, queues and counters of events that nobody has used for long. */
export async function pruneUnused(
  base: Base,
  slice: PruneSlice,
  unusedBefore: number,
  toldBefore: number,
): Promise<void> {
  const { link, sql } = base;
  const now = link.clock.now();
  const counted = async (text: string, values: readonly number[]): Promise<number> =>
    (await link.query<[number]>(text, values))[0]![0];
  await slice.takeLater('workers', (limit) => counted(sql['prune-workers'], [unusedBefore, limit]));
  await slice.takeLater('limits', async (limit) => {
    await link.query(sql['note-unused-limits'], [now, limit]);
    return counted(sql['prune-limits'], [unusedBefore - USE_NOTED_EVERY_MS, limit]);
  });
  await slice.takeLater('queues', async (limit) => {
    await link.query(sql['note-unused-queues'], [now, limit]);
    const removed = await link.query<[string, string]>(sql['prune-queues'], [unusedBefore, limit]);
    for (const [tenant, name] of removed) base.knownQueues.delete(keyOf(tenant, name));
    return removed.length;
  });
  await slice.takeLater('counters', async (limit) => {
    await link.query(sql['note-unused-subjects'], [now, limit]);
    return counted(sql['prune-subjects'], [toldBefore - USE_NOTED_EVERY_MS, toldBefore, limit, now]);
  });
}
