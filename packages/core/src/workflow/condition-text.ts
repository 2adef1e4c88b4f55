import type { Comparison, Condition } from '../job/node-rules.ts';

const SIGNS = { equals: '=', notEquals: '!=', in: 'in', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** A condition as people read it. */
export function conditionText(condition: Condition): string {
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
