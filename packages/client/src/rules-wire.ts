import type { NodeRules } from '@waybill/core';
import { present } from './present.ts';

/** What a node of a workflow says beside its job, in the words in which it is sent. */
export interface WireRules {
  when?: NonNullable<NodeRules['when']>;
  delay_ms?: number;
  if_skipped?: NonNullable<NodeRules['ifSkipped']>;
  map?: NonNullable<NodeRules['map']>;
}

export function rulesToWire({ when, delayMs, ifSkipped, map }: NodeRules = {}): WireRules | undefined {
  const wire = {
    ...present('when', when),
    ...present('delay_ms', delayMs),
    ...present('if_skipped', ifSkipped),
    ...present('map', map),
  };
  return Object.keys(wire).length === 0 ? undefined : wire;
}

export const rulesFromWire = ({ when, delay_ms, if_skipped, map }: WireRules): NodeRules => ({
  ...present('when', when),
  ...present('delayMs', delay_ms),
  ...present('ifSkipped', if_skipped),
  ...present('map', map),
});
