import type { Comparison, Condition, WorkflowNode } from '@waybill/core';
import { span } from './spans.ts';
import { oneLine } from './text-width.ts';

const SIGNS = { equals: '=', notEquals: '!=', in: 'in', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

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

function conditionText(condition: Condition): string {
  if ('all' in condition) return condition.all.map(inner).join(' and ');
  if ('any' in condition) return condition.any.map(inner).join(' or ');
  return 'not' in condition ? `not ${inner(condition.not)}` : comparisonText(condition);
}

const inner = (condition: Condition): string =>
  'all' in condition || 'any' in condition ? `(${conditionText(condition)})` : conditionText(condition);

function comparisonText({ parent, path, exists, ...comparison }: Comparison): string {
  const place = path === undefined ? parent : `${parent}.${path}`;
  if (exists !== undefined) return `${place} ${exists ? 'exists' : 'does not exist'}`;
  const [operator, operand] = Object.entries(comparison)[0] ?? ['equals', null];
  return `${place} ${SIGNS[operator as keyof typeof SIGNS]} ${JSON.stringify(operand)}`;
}
