import type { WireJob } from '@waybill/client';
import type { JobPage, Jobs } from '@waybill/core';
import { pagination, type WirePagination } from './pagination.ts';
import { toldJob } from './told-job.ts';

interface WireJobPage {
  jobs: WireJob[];
  pagination: WirePagination;
  /** Ids of jobs that belong here and whose rows are damaged. */
  unreadable?: string[];
}

/** Newest first. Pass `pagination.cursor` back as `cursor` to go on. */
export async function jobPage(
  jobs: Jobs,
  { items, cursor, unreadable }: JobPage,
  { limit, offset, total }: { limit: number; offset: number; total?: number },
): Promise<WireJobPage> {
  return {
    jobs: await Promise.all(items.map((job) => toldJob(jobs, job))),
    pagination: pagination(limit, cursor, { offset, ...(total !== undefined && { total }) }),
    ...(unreadable && { unreadable }),
  };
}
