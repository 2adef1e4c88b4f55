import type { JsonObject, WorkflowRecord, WorkflowState } from '@waybill/core';

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
];

export function workflowOf(cells: WorkflowCells): WorkflowRecord {
  const [tenant, id, type, name, state, failurePolicy, callbacks, total, createdAt, finishedAt] = cells;
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
  };
}

export function workflowCells(workflow: WorkflowRecord): WorkflowCells {
  const { tenant, id, type, name, state, failurePolicy, callbacks, total, createdAt, finishedAt } = workflow;
  return [tenant, id, type, name, state, failurePolicy, JSON.stringify(callbacks), total, createdAt, finishedAt];
}
