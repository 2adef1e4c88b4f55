import type { GateWait, WorkflowNode } from '@waybill/core';
import { jobFromWire } from './job-from-wire.ts';
import { jobToWire, type WireJob } from './job-wire.ts';
import { present } from './present.ts';
import { fromRfc3339, toRfc3339 } from './time.ts';

/** A job as one node of its workflow. */
export interface WireWorkflowNode extends WireJob {
  /** Names of the nodes that it waits for; none for those that come first and for callbacks. */
  depends_on: string[];
  /** Of a node that waits for a signal or a review, and for nothing else. */
  waiting?: WireGateWait;
}

export interface WireGateWait {
  for: GateWait['for'];
  /** When it gives up. */
  until?: string;
  iteration?: number;
}

export const workflowNodeToWire = (node: WorkflowNode): WireWorkflowNode => ({
  ...jobToWire(node),
  depends_on: node.dependsOn,
  ...present('waiting', node.waiting && waitToWire(node.waiting)),
});

const waitToWire = ({ for: what, until, iteration }: GateWait): WireGateWait => ({
  for: what,
  ...present('until', until === null ? null : toRfc3339(until)),
  ...present('iteration', iteration),
});

const waitFromWire = ({ for: what, until, iteration }: WireGateWait): GateWait => ({
  for: what,
  until: fromRfc3339(until),
  ...present('iteration', iteration),
});

export const workflowNodeFromWire = (
  { depends_on: dependsOn, waiting, ...wire }: WireWorkflowNode,
  tenant: string,
): WorkflowNode => ({
  ...jobFromWire(wire as WireJob, tenant),
  dependsOn,
  ...present('waiting', waiting && waitFromWire(waiting)),
});
