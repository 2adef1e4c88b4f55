import type { InsertGroup, StoreWithin, Transaction } from '@waybill/core';
import { applyInside } from './apply.ts';
import { textArray } from './arrays.ts';
import { type Base, keyOf } from './base.ts';
import { payloadOf } from './bell.ts';
import { get } from './get.ts';
import { insertGuarded } from './insert-guarded.ts';
import { linkWithin } from './link/within.ts';
import { openBundles, replacedBy } from './open-bundles.ts';

/**
 * The store from inside of a transaction of somebody else. Bundles are opened by a connection of our own: opened inside,
 * they would make everybody wait who wants to end or extend another run of them, until the caller commits.
 */
export function storeWithin(base: Base, transaction: Transaction): StoreWithin {
  const inside = baseWithin(base, transaction);
  return {
    // Looks before it writes, so that nothing but a rival at the very same moment makes a statement fail.
    insert: async (groups) => {
      await noteQueues(base, groups);
      const replaced = replacedBy(groups.flatMap(({ jobs }) => jobs));
      await openBundles(base, base.link, replaced);
      const answers = [];
      for (const group of groups) answers.push(...(await insertGuarded(inside, [group])));
      return answers;
    },
    get: (keys) => get(inside, keys),
    apply: async (changes) => {
      const changed = changes.map(({ job }) => job);
      await openBundles(base, base.link, changed);
      return applyInside(inside, changes);
    },
  };
}

/**
 * By a connection of our own: inside of the transaction the row of a new queue would make everybody wait who enqueues
 * the next job of that queue, until the caller commits. Rolled back, nothing is left but the name of an empty queue.
 */
async function noteQueues({ knownQueues, link, sql }: Base, groups: readonly InsertGroup[]): Promise<void> {
  const jobs = groups.flatMap((group) => group.jobs.map(({ job }) => job));
  const fresh = jobs.filter(({ tenant, queue }) => !knownQueues.has(keyOf(tenant, queue)));
  if (fresh.length === 0) return;
  await link.query(sql['queues-note'], [
    textArray(fresh.map(({ tenant }) => tenant)),
    textArray(fresh.map(({ queue }) => queue)),
  ]);
  for (const { tenant, queue } of fresh) knownQueues.add(keyOf(tenant, queue));
}

/** What is written here may never come to be, so this process must learn nothing from it. */
function baseWithin(base: Base, transaction: Transaction): Base {
  const { sql, floors, bundleFrom, knownQueues } = base;
  return {
    link: linkWithin(base.link, transaction),
    sql,
    floors,
    bundleFrom,
    // Told with the commit and never before; this process hears of it like the others, by listening.
    bell: { payload: (queues) => payloadOf(queues), ready: () => {}, close: () => {} },
    knownQueues: { has: (queue) => knownQueues.has(queue), add: () => {} },
    unlimited: new Set(),
  };
}
