import type { GateRule, NodeRules, Revision } from '@waybill/core';
import { present } from './present.ts';

/** What a node of a workflow says beside its job, in the words in which it is sent. */
export interface WireRules {
  when?: NonNullable<NodeRules['when']>;
  delay_ms?: number;
  if_skipped?: NonNullable<NodeRules['ifSkipped']>;
  map?: NonNullable<NodeRules['map']>;
  signal?: WireGate;
  review?: WireGate;
  /** Of an iteration that a reviewer asked for. */
  revision?: WireRevision;
}

export interface WireRevision extends Pick<Revision, 'iteration' | 'feedback'> {
  /** Who asked for it, where that is known. */
  by?: string;
}

interface WireGate {
  timeout_ms?: number;
}

export const revisionToWire = ({ iteration, feedback, by }: Revision): WireRevision => ({
  ...{ iteration, feedback },
  ...present('by', by),
});
export const revisionFromWire = ({ iteration, feedback, by }: WireRevision): Revision => ({
  ...{ iteration, feedback },
  by: by ?? null,
});

const gateToWire = (gate: GateRule | undefined): WireGate | undefined => gate && present('timeout_ms', gate.timeoutMs);
const gateFromWire = (gate: WireGate | undefined): GateRule | undefined =>
  gate && present('timeoutMs', gate.timeout_ms);

export function rulesToWire({
  when,
  delayMs,
  ifSkipped,
  map,
  signal,
  review,
  revision,
}: NodeRules = {}): WireRules | undefined {
  const wire = {
    ...present('when', when),
    ...present('delay_ms', delayMs),
    ...present('if_skipped', ifSkipped),
    ...present('map', map),
    ...present('signal', gateToWire(signal)),
    ...present('review', gateToWire(review)),
    ...present('revision', revision && revisionToWire(revision)),
  };
  return Object.keys(wire).length === 0 ? undefined : wire;
}

export const rulesFromWire = ({ when, delay_ms, if_skipped, map, signal, review, revision }: WireRules): NodeRules => ({
  ...present('when', when),
  ...present('delayMs', delay_ms),
  ...present('ifSkipped', if_skipped),
  ...present('map', map),
  ...present('signal', gateFromWire(signal)),
  ...present('review', gateFromWire(review)),
  ...present('revision', revision && revisionFromWire(revision)),
});
