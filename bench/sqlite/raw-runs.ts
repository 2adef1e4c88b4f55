import { newJobId } from '@waybill/core';
import { payload } from '../queue.ts';
import { elapsed, type Run, scaled } from '../result.ts';
import { BATCH, RawTable } from './raw.ts';

const JOBS = 100_000;
const SPEC = JSON.stringify({ args: [payload()], meta: {} });

function fill(table: RawTable, jobs: number): void {
  for (let made = 0; made < jobs; made += BATCH) {
    const ids = Array.from({ length: Math.min(BATCH, jobs - made) }, () => newJobId(Date.now()));
    table.insertBatch(ids, SPEC);
  }
}

/** Straight inserts in batches; what both enqueue workloads are measured by. */
export const rawInsert: Run = async ({ folder, scale }) => {
  const jobs = scaled(JOBS, scale);
  const table = new RawTable(folder);
  const begun = performance.now();
  fill(table, jobs);
  return { jobs, seconds: elapsed(begun), settings: `${BATCH} rows per transaction, main thread` };
};

export const rawDrain: Run = async ({ folder, scale }) => {
  const jobs = scaled(JOBS, scale);
  const table = new RawTable(folder);
  fill(table, jobs);
  const begun = performance.now();
  for (let ids = table.claimBatch(); ids.length > 0; ids = table.claimBatch()) table.completeBatch(ids);
  return { jobs, seconds: elapsed(begun), settings: `claim and complete in ${BATCH}s, main thread` };
};
