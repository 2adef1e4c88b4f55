import type { JsonObject, WorkflowReason, WorkflowRecord, WorkflowState } from '@waybill/core';

/** A row of the table `workflows`, column by column. */
export type WorkflowCells = [
  tenant: string,
  id: string,
  type: string,
  name: string | null,
  state: string,
  failurePolicy: string,
  callbacks: string,
  total: number,
  createdAt: number,
  finishedAt: number | null,
  timeoutMs: number | null,
  nextAt: number | null,
  reason: string | null,
  /** 0 or 1. */
  skips: number,
];

export function workflowOf(cells: WorkflowCells): WorkflowRecord {
  const [tenant, id, type, name, state, failurePolicy, callbacks, total, createdAt, finishedAt, ...beside] = cells;
  const [timeoutMs, nextAt, reason, skips] = beside;
  return {
    tenant,
    id,
    type,
    name,
    state: state as WorkflowState,
    failurePolicy,
    callbacks: JSON.parse(callbacks) as JsonObject,
    total,
    createdAt,
    finishedAt,
    timeoutMs,
    nextAt,
    reason: reason as WorkflowReason | null,
    skips: skips === 1,
  };
}

export function workflowCells(workflow: WorkflowRecord): WorkflowCells {
  const { tenant, id, type, name, state, failurePolicy, callbacks, total, createdAt, finishedAt } = workflow;
  const { timeoutMs, nextAt, reason, skips } = workflow;
  const said = [tenant, id, type, name, state, failurePolicy, JSON.stringify(callbacks)] as const;
  return [...said, total, createdAt, finishedAt, timeoutMs, nextAt, reason, Number(skips)];
}
