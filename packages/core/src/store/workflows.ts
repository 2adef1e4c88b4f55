import type { Told } from '../events/subject-event.ts';
import type { Job, JobState, OutcomeKind } from '../job/job.ts';
import type { Json } from '../json.ts';
import type { NewJob, Stored } from './insert.ts';
import type { Page } from './query.ts';
import type { WorkflowReason, WorkflowRecord, WorkflowState } from './workflow-record.ts';

export interface Family {
  tenant: string;
  ids: readonly string[];
}

export interface ParentResult {
  id: string;
  node: string | null;
  state: JobState;
  outcome: OutcomeKind | null;
  finishedAt: number | null;
  result: Json | null;
}

/** From `running` to `running` a move changes what stands beside the state. */
export interface MoveRequest {
  tenant: string;
  id: string;
  from: WorkflowState;
  to: WorkflowState;
  /** It must still have so many nodes: one may have joined since the caller saw that all have finished. */
  total?: number;
  /** @defaultValue null: whoever moves a workflow says what holds from then on */
  nextAt?: number | null;
  /** @defaultValue null */
  reason?: WorkflowReason | null;
  /** From now on nodes of it may be skipped. */
  skips?: true;
  now: number;
  /** Inserted with the move, or not at all. */
  jobs: readonly NewJob[];
  told?: Told;
}

/** The jobs that were stored: one that is there already keeps no other out. `lost`: it is not as expected. */
export type MoveAnswer = ({ status: 'moved' } & Stored) | { status: 'lost' };

/**
 * Settling a node touches only its own row and leaves `advancePending` behind. Advancing it is a few steps that may be
 * repeated at will: `meet` notes that the edges from completed parents are met, and the engine moves each child that
 * waits for nothing more from `pending` to `available` by an ordinary `apply` by version. So a child is dispatched
 * once, however often and by however many servers its parents are advanced. `advancePending` is cleared last.
 */
export interface WorkflowStore {
  get(tenant: string, id: string): Promise<WorkflowRecord | null>;
  /** Newest first by id. */
  list(query: {
    tenant: string;
    /** The first characters of the id, as `isIdPrefix` has it. Every store finds them by an index. */
    idPrefix?: string;
    states?: readonly WorkflowState[];
    limit: number;
    cursor?: string;
  }): Promise<Page<WorkflowRecord>>;
  /**
   * Marks the edges from those of the given jobs that have completed, and answers their children that are still
   * pending and have no unmet edge, also behind joins. Edges stay, so that a repetition finds the same children.
   */
  meet(parents: Family): Promise<Job[]>;
  /** The children of these jobs that are still pending, also behind joins. */
  waiting(parents: Family): Promise<Job[]>;
  /**
   * For each of these jobs its parents, in the order in which its edges were given; behind a join those of the join, which
   * are one list for all jobs behind it: thousands may stand there, after thousands.
   */
  parents(children: Family): Promise<ParentResult[][]>;
  /** Whether any job of the workflow has not finished. Cheap however many nodes there are. */
  hasUnfinished(tenant: string, id: string): Promise<boolean>;
  /** Compare-and-set of the state, with the jobs that come with it. */
  move(request: MoveRequest): Promise<MoveAnswer>;
}
