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
}
