import type { WorkflowInfo, WorkflowReason, WorkflowRecord, WorkflowState } from '@waybill/core';
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
  /** How long it may take. */
  timeout_ms?: number;
  /** Why it fails, where no job of it is the reason. */
  reason?: WorkflowReason;
  /** True while it runs although jobs of it have failed; else absent, and always where workflows are listed. */
  partial_failure?: boolean;
  metadata: WireWorkflowMetadata;
}

export interface WireWorkflowMetadata {
  job_count: number;
  completed_count?: number;
  failed_count?: number;
  cancelled_count?: number;
  /** Counted apart from those that have completed; absent where none was skipped. */
  skipped_count?: number;
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
    ...present('timeout_ms', workflow.timeoutMs),
    ...present('reason', workflow.reason),
    ...present('partial_failure', counts?.partialFailure || undefined),
    metadata: {
      job_count: workflow.total,
      ...present('completed_count', counts?.completed),
      ...present('failed_count', counts?.failed),
      ...present('cancelled_count', counts?.cancelled),
      ...present('skipped_count', counts?.skipped || undefined),
      created_at,
      ...ended,
    },
  };
}

/** The wire does not carry the callbacks (none), and nothing that only the engine needs: `nextAt` is null, `skips` false. */
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
  timeoutMs: wire.timeout_ms ?? null,
  nextAt: null,
  reason: wire.reason ?? null,
  skips: false,
});

export const workflowInfoFromWire = (wire: WireWorkflow, tenant: string): WorkflowInfo => ({
  ...workflowFromWire(wire, tenant),
  completed: wire.metadata.completed_count ?? 0,
  failed: wire.metadata.failed_count ?? 0,
  cancelled: wire.metadata.cancelled_count ?? 0,
  skipped: wire.metadata.skipped_count ?? 0,
  partialFailure: wire.partial_failure ?? false,
});
