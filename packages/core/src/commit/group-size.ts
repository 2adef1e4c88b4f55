import type { InsertGroup } from '../store/insert.ts';

const BYTES_PER_JOB = 512;
const DEEP_ENOUGH = 8;

/** Rough on purpose: the lengths of the strings that dominate a row. */
export function groupSize(group: InsertGroup): number {
  return group.jobs.reduce((sum, { job }) => sum + BYTES_PER_JOB + roughSize(job.spec.args, 0), 0);
}

function roughSize(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || depth > DEEP_ENOUGH) return 8;
  let sum = 8;
  for (const item of Object.values(value)) sum += roughSize(item, depth + 1);
  return sum;
}
