import type { Json } from '../json.ts';

/** Holds a value against what a parent returned. One comparison each; `path` names a part of it, such as `report.pages.0`. */
export type Comparison = {
  parent: string;
  path?: string;
  equals?: Json;
  notEquals?: Json;
  in?: Json[];
  /** True: there is a value, and it is not null. */
  exists?: boolean;
  gt?: number | string;
  gte?: number | string;
  lt?: number | string;
  lte?: number | string;
};

/** An expression without code, as it is stored with its node. */
export type Condition = Comparison | { all: Condition[] } | { any: Condition[] } | { not: Condition };

/** What becomes of a node when a parent of it was skipped. */
export const IF_SKIPPED = ['skip', 'run'] as const;
export type IfSkipped = (typeof IF_SKIPPED)[number];

/** The list that a map makes one job of each item of. */
export interface MapRule {
  over: { parent: string; path?: string };
  /** More items fail the node. */
  limit?: number;
}

/** A node that waits for what comes from outside. */
export interface GateRule {
  /** Counted from when it begins to wait. Nothing has come by then: the node fails. */
  timeoutMs?: number;
}

/** What a reviewer asked for: the row is iteration 2 or later of its node. */
export interface Revision {
  iteration: number;
  feedback: string;
  by: string | null;
}

/**
 * What decides about a node beside its parents' ends. A node has rules also when all of these are absent: then a parent of
 * it may be skipped.
 */
export interface NodeRules {
  when?: Condition;
  /** Milliseconds after the last of its parents has ended. */
  delayMs?: number;
  /** @defaultValue it runs if at least one parent has completed */
  ifSkipped?: IfSkipped;
  map?: MapRule;
  /** Its result is the data of the signal that has its name. */
  signal?: GateRule;
  /** Its result is that of the iteration that was approved. */
  review?: GateRule;
  /** Made by the engine, and not for a producer to say. */
  revision?: Revision;
}
