import type { JobRequest } from '../enqueue/envelope.ts';
import type { NodeRules } from '../job/node-rules.ts';

/** Where the job of a node keeps the names of its parents, in the order of their results, for its handler to find them by name. */
export const PARENT_NAMES = 'parent_names';

/** One job of a workflow and the nodes that must complete before it. */
export interface NodeShape extends AskedRules {
  name: string;
  request: JobRequest;
  parents: readonly string[];
  /** Others wait for the same parents, by the very same list: one join serves them all. */
  isJoined?: true;
}

/** What a node says beside its job. */
export interface AskedRules {
  rules?: NodeRules;
  /** Of a map: how many of its jobs may run at once. */
  concurrency?: number;
}
