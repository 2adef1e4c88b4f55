import type { JsonObject } from '../json.ts';

export const WORKFLOW_STATES = ['running', 'completed', 'failed', 'cancelled'] as const;
export type WorkflowState = (typeof WORKFLOW_STATES)[number];

/** A graph of jobs as a whole. Its nodes are ordinary jobs that carry its id. */
export interface WorkflowRecord {
  tenant: string;
  id: string;
  type: string;
  name: string | null;
  state: WorkflowState;
  failurePolicy: string;
  /** Jobs to make when it ends, by the name of the callback. */
  callbacks: JsonObject;
  /** Nodes, callbacks not counted. */
  total: number;
  createdAt: number;
  finishedAt: number | null;
  /** How long it may take. */
  timeoutMs: number | null;
  /** When the engine must look at it; null when it has ended, or when there is nothing to wait for. */
  nextAt: number | null;
  /** Why it fails, where no node of it is the reason: from the moment on at which that is known, so also while it runs. */
  reason: WorkflowReason | null;
  /** Whether nodes of it may be skipped. */
  skips: boolean;
}

/** `timeout`: it took longer than it may. */
export type WorkflowReason = 'timeout';
