import type { WorkflowNode } from '@waybill/core';
import { jobFromWire } from './job-from-wire.ts';
import { jobToWire, type WireJob } from './job-wire.ts';

/** A job as one node of its workflow. */
export interface WireWorkflowNode extends WireJob {
  /** Names of the nodes that it waits for; none for those that come first and for callbacks. */
  depends_on: string[];
}

export const workflowNodeToWire = (node: WorkflowNode): WireWorkflowNode => ({
  ...jobToWire(node),
  depends_on: node.dependsOn,
});

export const workflowNodeFromWire = (
  { depends_on: dependsOn, ...wire }: WireWorkflowNode,
  tenant: string,
): WorkflowNode => ({
  ...jobFromWire(wire as WireJob, tenant),
  dependsOn,
});
