import type { WorkerDirective, WorkerInfo } from '@waybill/core';
import { toRfc3339 } from './time.ts';

/** A worker as the API shows it. */
export interface WireWorker {
  id: string;
  active_jobs: number;
  first_seen_at: string;
  last_seen_at: string;
  directive: WorkerDirective;
}

export const workerToWire = (worker: WorkerInfo): WireWorker => ({
  id: worker.id,
  active_jobs: worker.activeJobs,
  first_seen_at: toRfc3339(worker.firstSeenAt),
  last_seen_at: toRfc3339(worker.lastSeenAt),
  directive: worker.directive,
});

export const workerFromWire = (wire: WireWorker, tenant: string): WorkerInfo => ({
  tenant,
  id: wire.id,
  activeJobs: wire.active_jobs,
  firstSeenAt: Date.parse(wire.first_seen_at),
  lastSeenAt: Date.parse(wire.last_seen_at),
  directive: wire.directive,
});
