import { jobToWire, type WireJob } from '@waybill/client';
import type { Job, Page } from '@waybill/core';
import { pagination, type WirePagination } from './pagination.ts';

interface WireJobPage {
  jobs: WireJob[];
  pagination: WirePagination;
}

/** Newest first. Pass `pagination.cursor` back as `cursor` to go on. */
export const jobPage = ({ items, cursor }: Page<Job>, limit: number): WireJobPage => ({
  jobs: items.map((job) => jobToWire(job)),
  pagination: pagination(limit, cursor),
});
