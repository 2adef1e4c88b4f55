import type { Job } from '../job/job.ts';

export interface AdvanceRequest {
  tenant: string;
  /** A completed job whose dependents shall be looked at. */
  parent: string;
  now: number;
}

/**
 * Settling a node touches only its own row. Advancing it removes its edges and moves every child without edges from
 * `pending` to `available` by compare-and-set, so that a child is dispatched once, however often and by however many
 * servers its parents are advanced.
 */
export interface WorkflowStore {
  /** Answers the children dispatched by this very call; the parent's `advancePending` is cleared. Idempotent. */
  advance(request: AdvanceRequest): Promise<{ dispatched: Job[] }>;
}
