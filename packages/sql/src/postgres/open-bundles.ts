import type { Job, NewJob } from '@waybill/core';
import { plainArray } from './arrays.ts';
import type { Base } from './base.ts';
import type { Queryable } from './link/link.ts';
import { isId } from './rows.ts';

/** Gives runs that are in bundles, and all others of these bundles, rows that can be locked. */
export async function openBundles({ sql }: Base, to: Queryable, jobs: readonly Job[]): Promise<void> {
  const possible = jobs.filter(({ id }) => isId(id));
  for (const [tenant, of] of Map.groupBy(possible, (job) => job.tenant)) {
    await to.query(sql['bundles-open'], [tenant, plainArray(of.map(({ id }) => id))]);
  }
}

/** The jobs that new ones replace, running ones among them. */
export const replacedBy = (made: readonly NewJob[]): Job[] =>
  made.flatMap(({ unique }) => (unique?.replace ? [unique.replace.job] : []));
