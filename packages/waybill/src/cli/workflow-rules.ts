import { conditionText, type GateRule, type WorkflowNode } from '@waybill/core';
import { span } from './spans.ts';
import { oneLine } from './text-width.ts';

/** What a node says beside its job, in a few words each. */
export function rulesOf({ spec: { rules } }: Pick<WorkflowNode, 'spec'>): string[] {
  if (rules === undefined) return [];
  const { when, delayMs, ifSkipped, map, signal, review, revision } = rules;
  return [
    ...(when ? [`if ${oneLine(conditionText(when))}`] : []),
    ...(delayMs === undefined ? [] : [`${span(delayMs)} later`]),
    ...(ifSkipped === undefined ? [] : [ifSkipped === 'run' ? 'also if skipped before' : 'skipped if any before is']),
    ...(map ? [`for each of ${map.over.parent}${map.over.path === undefined ? '' : `.${map.over.path}`}`] : []),
    ...(signal ? [`waits for a signal${within(signal)}`] : []),
    ...(review ? [`is reviewed${within(review)}`] : []),
    ...(revision ? [`revised: ${oneLine(revision.feedback)}`] : []),
  ];
}

const within = ({ timeoutMs }: GateRule): string => (timeoutMs === undefined ? '' : ` within ${span(timeoutMs)}`);
