import type { Job } from '../job/job.ts';
import type { Json } from '../json.ts';
import type { Page } from '../store/query.ts';
import type { InTransaction } from '../store/transaction.ts';
import type { WorkflowRecord, WorkflowState } from '../store/workflow-record.ts';

interface InTenant {
  tenant?: string;
}

/** Graphs of jobs. */
export interface Workflows {
  /** A chain, group, batch or any graph, in the words of the HTTP interface. All of it is stored, or nothing. */
  create(request: unknown, context?: InTenant & InTransaction): Promise<WorkflowInfo>;
  get(id: string, context?: InTenant): Promise<WorkflowInfo>;
  list(
    query?: InTenant & { idPrefix?: string; states?: readonly WorkflowState[]; limit?: number; cursor?: string },
  ): Promise<Page<WorkflowRecord>>;
  /** The jobs of the workflow, newest first; its callbacks are among them, without a name. */
  nodes(id: string, query?: InTenant & { limit?: number; cursor?: string }): Promise<Page<WorkflowNode>>;
  /** New nodes for a running workflow; `depends_on` may name old ones. */
  addNodes(id: string, nodes: unknown, context?: InTenant): Promise<WorkflowInfo>;
  /** No further node starts; running ones are lost to their workers. */
  cancel(id: string, context?: InTenant): Promise<WorkflowInfo>;
  /**
   * Gives the node that waits for this signal its result. It may come before its node's turn, and is kept until then. Sent
   * again with the same data it changes nothing; with other data it is refused with `conflict`.
   */
  signal(id: string, name: string, data: Json, context?: InTenant & { by?: string }): Promise<WorkflowInfo>;
  /**
   * Lets go on what stands behind a node that is in review. Approved again it changes nothing; refused with `conflict` where
   * the node is not in review.
   */
  approve(id: string, node: string, approval?: Approval, context?: InTenant & { by?: string }): Promise<WorkflowInfo>;
  /** Runs a node that is in review once more, with its output and this feedback: at most five iterations in all. */
  requestRevision(
    id: string,
    node: string,
    request: RevisionRequest,
    context?: InTenant & { by?: string },
  ): Promise<WorkflowInfo>;
  /**
   * Runs the failed nodes of a failed workflow again, and what was waiting for them. `nodes`: only these, and of what was
   * waiting only what waits for no other failed node; refused with `conflict` where one of them has not failed.
   */
  resume(id: string, context?: InTenant & { nodes?: readonly string[] }): Promise<WorkflowInfo>;
}

export interface Approval {
  /** At most 5,000 characters; for the log. */
  comment?: string;
  /** Refused with `conflict` where another iteration is in review. @defaultValue whichever is */
  iteration?: number;
}

export interface RevisionRequest {
  /** What shall be different, 1 to 5,000 characters. */
  feedback: string;
  /** Refused with `conflict` where another iteration is in review. @defaultValue whichever is */
  iteration?: number;
}

/** What a gate waits for: it is open, and nothing has come yet. */
export interface GateWait {
  for: 'signal' | 'review';
  /** When it gives up; null: never. */
  until: number | null;
  /** Of a review. */
  iteration?: number;
}

export interface WorkflowInfo extends WorkflowRecord {
  /** Those that were skipped are counted apart. */
  completed: number;
  failed: number;
  cancelled: number;
  skipped: number;
  /** It runs although nodes of it have failed: what does not depend on these goes on. */
  partialFailure: boolean;
}

export interface WorkflowNode extends Job {
  /** Names of the nodes that it waits for, as far as they are still kept. */
  dependsOn: string[];
  /** Of a node that waits for a signal or a review, and for nothing else. */
  waiting?: GateWait;
}
