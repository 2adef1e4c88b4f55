import { isFinished } from '@waybill/core';
import type { Base } from './base.ts';
import { all, atMost, begins, equals } from './conditions.ts';
import { inParallel } from './database.ts';
import { type Item, keyOf, number } from './items.ts';
import { jobKey, jobPk, nodesPk, partsOfKey, prunePartition } from './keys.ts';
import { readRows } from './read.ts';
import { stateOf } from './rows.ts';

const NODES_AT_ONCE = 100;
const WORKFLOWS_AT_ONCE = 25;

interface Pruned {
  jobs: number;
  more: boolean;
}

/**
 * Removes the nodes of workflows that have ended, when their time has come, and then the workflows. Nodes cannot expire by
 * themselves: the time of each begins when the last of them has finished.
 */
export async function pruneWorkflows(base: Base, limit: number): Promise<Pruned> {
  const now = base.settings.clock.now();
  const shards = Array.from({ length: base.settings.dueShards }, (_, shard) => prunePartition(shard));
  const found = await inParallel(shards, (shard) =>
    base.db.query({ index: 'due', where: all(equals('dp', shard), atMost('dn', now)), limit: WORKFLOWS_AT_ONCE }),
  );
  let jobs = 0;
  let more = found.some(({ last }) => last !== undefined);
  for (const entry of found.flatMap(({ items }) => items)) {
    const item = await base.db.get(keyOf(entry));
    // The index may be late: the workflow is gone, runs again, or waits for a later time.
    if (!item || number(item, 'fi') === null || (number(item, 'dn') ?? now + 1) > now) continue;
    const pruned = await pruneNodes(base, item, limit - jobs);
    jobs += pruned.jobs;
    more ||= pruned.more;
    if (jobs >= limit) return { jobs, more: true };
  }
  return { jobs, more };
}

/** Page by page from the first node on. Those that must stay say when to look again. */
async function pruneNodes(base: Base, workflow: Item, limit: number): Promise<Pruned> {
  const [tenant, id] = partsOfKey(workflow);
  const where = all(equals('pk', nodesPk(tenant, id)), begins('sk', 'N#'));
  const moments: number[] = [];
  let jobs = 0;
  let after: Item | undefined;
  do {
    const page = await base.db.query({ where, limit: NODES_AT_ONCE, ...(after && { after }) });
    const rows = await readRows(
      base,
      page.items.map((node) => jobKey(tenant, node['j'] as string)),
    );
    const stays = await inParallel(page.items, (node, index) => removeNode(base, workflow, node, rows[index]));
    moments.push(...stays.filter((moment) => moment !== null));
    jobs += stays.filter((moment, index) => moment === null && rows[index]).length;
    after = page.last;
    if (jobs >= limit) return { jobs, more: true };
  } while (after);
  await finish(base, workflow, moments);
  return { jobs, more: false };
}

/** Null when it is gone; else the moment from which on it may go. */
async function removeNode(base: Base, workflow: Item, node: Item, row: Item | undefined): Promise<number | null> {
  const now = base.settings.clock.now();
  const moment = row ? expiryOfNode(base, workflow, row) : now;
  if (moment > now) return moment;
  const [tenant] = partsOfKey(workflow);
  if (row) {
    const removed = await base.db.write({ delete: keyOf(row), if: equals('vr', row['vr']!) });
    // Somebody has brought it back to life.
    if (!removed.ok && removed.old) return now + base.settings.retention.finishedMs;
  }
  await removePartition(base, jobPk(tenant, node['j'] as string));
  // Last of all: whoever goes on after a crash finds the rest by it.
  await base.db.write({ delete: keyOf(node) });
  return null;
}

function expiryOfNode({ settings }: Base, workflow: Item, row: Item): number {
  const { finishedMs, deadMs } = settings.retention;
  const finishedAt = number(row, 'fi');
  if (!isFinished(stateOf(row)) || finishedAt === null || 'nx' in row) return settings.clock.now() + finishedMs;
  return Math.max(finishedAt, number(workflow, 'fi')!) + ('de' in row ? deadMs : finishedMs);
}

/** What belongs to a job or a join besides its row. A row that stands here has expired, or was never committed. */
async function removePartition(base: Base, pk: string): Promise<void> {
  const items = await base.db.queryAll({ where: equals('pk', pk), only: ['pk', 'sk'] });
  const others = items.filter((item) => item['sk'] !== 'J');
  await inParallel(others, (item) => base.db.write({ delete: keyOf(item) }));
}

async function finish(base: Base, workflow: Item, moments: readonly number[]): Promise<void> {
  const isAsRead = all(equals('fi', workflow['fi']!), equals('to', workflow['to'] ?? null));
  const key = keyOf(workflow);
  if (moments.length > 0) {
    const dn = moments.reduce((least, moment) => Math.min(least, moment));
    await base.db.write({ update: key, change: { set: { dn } }, if: isAsRead });
    return;
  }
  const [tenant, id] = partsOfKey(workflow);
  const joins = await base.db.queryAll({ where: all(equals('pk', nodesPk(tenant, id)), begins('sk', 'J#')) });
  await inParallel(joins, async (join) => {
    await removePartition(base, jobPk(tenant, join['j'] as string));
    await base.db.write({ delete: keyOf(join) });
  });
  await base.db.write({ delete: key, if: isAsRead });
}
