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
}
