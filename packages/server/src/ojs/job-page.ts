import { jobToWire, type WireJob } from '@waybill/client';
import type { Job, Page } from '@waybill/core';

interface WireJobPage {
  jobs: WireJob[];
  pagination: { limit: number; has_more: boolean; cursor?: string };
}

/** Newest first. Pass `pagination.cursor` back as `cursor` to go on. */
export function jobPage({ items, cursor }: Page<Job>, limit: number): WireJobPage {
  const jobs = items.map((job) => jobToWire(job));
  return { jobs, pagination: { limit, has_more: cursor !== undefined, ...(cursor !== undefined && { cursor }) } };
}
