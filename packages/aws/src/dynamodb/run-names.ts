import type { Job } from '@waybill/core';
import type { Base } from './base.ts';
import { jobKey } from './keys.ts';
import { readRows } from './read.ts';
import { stateOf } from './rows.ts';

/** Who runs under a limit stands in one item, so there is a bound. */
export const MOST_CONCURRENT = 5000;

export const runName = (id: string, run: number): string => `${id}.${run}`;

export const runNames = (jobs: readonly Job[]): string[] => jobs.map(({ id, run }) => runName(id, run));

/** Those of the runs that have not ended, by their rows. */
export async function stillRunning(base: Base, tenant: string, names: readonly string[]): Promise<string[]> {
  const rows = await readRows(
    base,
    names.map((name) => jobKey(tenant, name.slice(0, name.lastIndexOf('.')))),
  );
  return names.filter((name, index) => {
    const row = rows[index];
    return row && stateOf(row) === 'active' && name.endsWith(`.${row['rn']}`);
  });
}
