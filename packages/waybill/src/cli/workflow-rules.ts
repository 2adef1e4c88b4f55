import { conditionText, type WorkflowNode } from '@waybill/core';
import { span } from './spans.ts';
import { oneLine } from './text-width.ts';

/** What a node says beside its job, in a few words each. */
export function rulesOf({ spec: { rules } }: Pick<WorkflowNode, 'spec'>): string[] {
  if (rules === undefined) return [];
  const { when, delayMs, ifSkipped, map } = rules;
  return [
    ...(when ? [`if ${oneLine(conditionText(when))}`] : []),
    ...(delayMs === undefined ? [] : [`${span(delayMs)} later`]),
    ...(ifSkipped === undefined ? [] : [ifSkipped === 'run' ? 'also if skipped before' : 'skipped if any before is']),
    ...(map ? [`for each of ${map.over.parent}${map.over.path === undefined ? '' : `.${map.over.path}`}`] : []),
  ];
}
