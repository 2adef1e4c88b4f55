import { type InsertGroup, type Job, recordStore, type StoreWithin, type Transaction } from '@waybill/core';
import { applyInside } from './apply.ts';
import { plainArray, textArray } from './arrays.ts';
import type { Base } from './base.ts';
import { payloadOf } from './bell.ts';
import { get } from './get.ts';
import { insertGuarded } from './insert-guarded.ts';
import { keyOf } from './keys.ts';
import { linkWithin } from './link/within.ts';
import { replacedBy } from './open-bundles.ts';
import { recordTable } from './records.ts';
import { isId } from './rows.ts';

/**
 * The store from inside of a transaction of the caller. Nothing here waits for a second connection: the callers'
 * transactions may hold all connections of a shared pool.
 */
export function storeWithin(base: Base, transaction: Transaction): StoreWithin {
  const inside = baseWithin(base, transaction);
  return {
    // Looks before it writes, so that nothing but a rival at the very same moment makes a statement fail.
    insert: async (groups) => {
      await noteQueues(base, inside, groups);
      await openBeforehand(base, inside, replacedBy(groups.flatMap(({ jobs }) => jobs)));
      const answers = [];
      for (const group of groups) answers.push(...(await insertGuarded(inside, [group])));
      return answers;
    },
    get: (keys) => get(inside, keys),
    apply: async (changes) => {
      const changed = changes.map(({ job }) => job);
      await openBeforehand(base, inside, changed);
      return applyInside(inside, changes);
    },
    records: recordStore(recordTable(inside), inside.link.clock),
  };
}

/** Without a lock that others wait for until the caller commits. Rolled back, nothing is left. */
async function noteQueues({ knownQueues, sql }: Base, inside: Base, groups: readonly InsertGroup[]): Promise<void> {
  const jobs = groups.flatMap((group) => group.jobs.map(({ job }) => job));
  const fresh = jobs.filter(({ tenant, queue }) => !knownQueues.has(keyOf(tenant, queue)));
  if (fresh.length === 0) return;
  const committed = await inside.link.query<[tenant: string, name: string]>(sql['queues-note'], [
    textArray(fresh.map(({ tenant }) => tenant)),
    textArray(fresh.map(({ queue }) => queue)),
  ]);
  for (const [tenant, name] of committed) knownQueues.add(keyOf(tenant, name));
}

/**
 * Opens the bundles of these jobs by a connection of our own, if one is free. Bundles that are opened inside make everybody
 * wait until the caller commits who wants to extend or end another run of them; without a free connection that is how it
 * is done. The look from inside comes first: a bundle that this transaction has opened must not be waited for.
 */
async function openBeforehand({ link, sql }: Base, inside: Base, jobs: readonly Job[]): Promise<void> {
  const possible = jobs.filter(({ id }) => isId(id));
  for (const [tenant, of] of Map.groupBy(possible, (job) => job.tenant)) {
    const cells = [tenant, plainArray(of.map(({ id }) => id).sort())];
    const bundled = await inside.link.query(sql['bundles-of'], cells);
    if (bundled.length > 0) await link.queryIfFree(sql['bundles-open'], cells);
  }
}

/** What is written here may never come to be, so this process must learn nothing from it. */
function baseWithin(base: Base, transaction: Transaction): Base {
  const { sql, floors, bundleFrom } = base;
  return {
    link: linkWithin(base.link, transaction),
    sql,
    floors,
    bundleFrom,
    // Told with the commit and never before; this process hears of it like the others, by listening.
    bell: { payload: (queues) => payloadOf(queues), ready: () => {}, close: () => {} },
    // `noteQueues` has seen to them.
    knownQueues: { has: () => true, add: () => {}, delete: () => {} },
    unlimited: new Set(),
  };
}
