import type { SkippedLetter } from '@waybill/core';

/** Dead letters that a bulk call left as they were, as the API shows them. */
export interface WireSkipped {
  total: number;
  jobs: { job_id: string; code: SkippedLetter['code']; message: string }[];
}

interface Skipped {
  total: number;
  items: readonly SkippedLetter[];
}

export const skippedToWire = ({ total, items }: Skipped): WireSkipped => ({
  total,
  jobs: items.map(({ id, code, message }) => ({ job_id: id, code, message })),
});

export const skippedFromWire = ({ total, jobs }: WireSkipped): Skipped => ({
  total,
  items: jobs.map(({ job_id: id, code, message }) => ({ id, code, message })),
});
