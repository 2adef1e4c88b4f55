import type { WorkflowInfo, WorkflowRecord, WorkflowState } from '@waybill/core';
import { present } from './present.ts';
import { fromRfc3339, toRfc3339 } from './time.ts';

/** A workflow as the API shows it. What counts its nodes is absent where workflows are listed. */
export interface WireWorkflow {
  id: string;
  type: string;
  name?: string;
  state: WorkflowState;
  failure_policy: string;
  created_at: string;
  completed_at?: string;
  /** Of a chain. */
  steps_total?: number;
  steps_completed?: number;
  /** Of everything else. */
  jobs_total?: number;
  jobs_completed?: number;
  metadata: WireWorkflowMetadata;
}

export interface WireWorkflowMetadata {
  job_count: number;
  completed_count?: number;
  failed_count?: number;
  cancelled_count?: number;
  created_at: string;
  /** When the first job began, as far as it is known; where the steps are told. */
  started_at?: string;
  completed_at?: string;
}

/** The suites count in words of each type, the specification in `metadata`: both get theirs. */
export function workflowToWire(workflow: WorkflowRecord | WorkflowInfo): WireWorkflow {
  const created_at = toRfc3339(workflow.createdAt);
  const ended = present('completed_at', workflow.finishedAt === null ? null : toRfc3339(workflow.finishedAt));
  const counts = 'completed' in workflow ? workflow : undefined;
  const [total, completed] =
    workflow.type === 'chain'
      ? (['steps_total', 'steps_completed'] as const)
      : (['jobs_total', 'jobs_completed'] as const);
  return {
    id: workflow.id,
    type: workflow.type,
    ...present('name', workflow.name),
    state: workflow.state,
    failure_policy: workflow.failurePolicy,
    created_at,
    ...ended,
    [total]: workflow.total,
    ...present(completed, counts?.completed),
    metadata: {
      job_count: workflow.total,
      ...present('completed_count', counts?.completed),
      ...present('failed_count', counts?.failed),
      ...present('cancelled_count', counts?.cancelled),
      created_at,
      ...ended,
    },
  };
}

/** The wire does not carry the callbacks (none). */
export const workflowFromWire = ({ metadata, ...wire }: WireWorkflow, tenant: string): WorkflowRecord => ({
  tenant,
  id: wire.id,
  type: wire.type,
  name: wire.name ?? null,
  state: wire.state,
  failurePolicy: wire.failure_policy,
  callbacks: {},
  total: metadata.job_count,
  createdAt: Date.parse(wire.created_at),
  finishedAt: fromRfc3339(wire.completed_at),
});

export const workflowInfoFromWire = (wire: WireWorkflow, tenant: string): WorkflowInfo => ({
  ...workflowFromWire(wire, tenant),
  completed: wire.metadata.completed_count ?? 0,
  failed: wire.metadata.failed_count ?? 0,
  cancelled: wire.metadata.cancelled_count ?? 0,
});
