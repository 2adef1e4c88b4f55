import { jobToWire, type WireJob } from '@waybill/client';
import type { Job, Jobs } from '@waybill/core';

/** What is larger is not told but fetched from where it is kept, where that has addresses. */
export const LARGEST_TOLD = 1024 * 1024;

/** A job for whoever looks at it. A worker gets its job whole, see workers.ts. */
export async function toldJob(jobs: Jobs, job: Job): Promise<WireJob> {
  return jobToWire(job, { urls: await jobs.urls?.(job, { overBytes: LARGEST_TOLD }) });
}
