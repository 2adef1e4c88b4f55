import type { Job } from '@waybill/core';
import { plainArray, textArray } from './arrays.ts';
import type { Base } from './base.ts';
import type { Queryable } from './link/link.ts';

export interface Clash {
  tenant: string;
  index: number;
  kind: 'exists' | 'repeated';
  owner: string;
}

/** What keeps jobs of one tenant out, in the order in which it is answered. */
export async function clashesOf(base: Base, from: Queryable, jobs: readonly Job[]): Promise<Clash[]> {
  if (jobs.length === 0) return [];
  const { tenant } = jobs[0]!;
  const ids = plainArray(jobs.map(({ id }) => id));
  const keys = textArray(jobs.map(({ idempotencyKey }) => idempotencyKey));
  const rows = await from.query<[number, number, string]>(base.sql.clashes, [tenant, ids, keys]);
  const clashes = rows.map(
    ([index, kind, owner]): Clash => ({ tenant, index, kind: kind === 1 ? 'exists' : 'repeated', owner }),
  );
  return clashes.sort((a, b) => (a.kind === b.kind ? a.index - b.index : a.kind === 'exists' ? -1 : 1));
}
