import { isDeepStrictEqual } from 'node:util';
import { Fields, isObject } from '../check.ts';
import { invalidField } from '../errors.ts';
import type { Comparison, Condition } from '../job/node-rules.ts';
import type { Json } from '../json.ts';

/** Bounds of one condition: it is kept with its node and read whenever the node is looked at. */
const MAX_DEPTH = 10;
const MAX_COMPARISONS = 50;
const MAX_CHOICES = 100;
const MAX_PATH = 255;

const OPERATORS = ['equals', 'notEquals', 'in', 'exists', 'gt', 'gte', 'lt', 'lte'] as const;
const GROUPS = ['all', 'any', 'not'] as const;

/** Reads a condition as a producer writes it. Its parents are those that the node depends on. */
export function readCondition(value: Json, field: string, parents: readonly string[]): Condition {
  const count = { comparisons: 0 };
  const condition = readOne(value, field, 1, count);
  if (count.comparisons > MAX_COMPARISONS)
    throw invalidField(field, `must have at most ${MAX_COMPARISONS} comparisons.`, { max: MAX_COMPARISONS });
  for (const parent of parentsIn(condition)) checkParent(parent, field, parents);
  return condition;
}

/** A node is decided about by its own parents alone: by then no other node is known to have ended. */
export function checkParent(parent: string, field: string, parents: readonly string[]): void {
  if (parents.includes(parent)) return;
  throw invalidField(field, `names '${parent}', which the node does not depend on. Add it to 'depends_on'.`, {
    allowed: parents.slice(0, 100),
  });
}

export function readPath(fields: Fields): string | undefined {
  const path = fields.string('path', { max: MAX_PATH });
  if (path === undefined) return undefined;
  if (path !== '' && path.split('.').every((part) => part !== '')) return path;
  throw invalidField(fields.name('path'), 'must be names joined by dots, such as report.pages.0.');
}

function readOne(value: Json, field: string, depth: number, count: { comparisons: number }): Condition {
  if (depth > MAX_DEPTH) throw invalidField(field, `is nested deeper than ${MAX_DEPTH} levels.`, { max: MAX_DEPTH });
  const fields = new Fields(value, field);
  const group = GROUPS.find((name) => fields.has(name));
  if (group === undefined) {
    count.comparisons += 1;
    return readComparison(fields, value);
  }
  fields.refuseUnknown([group]);
  if (group === 'not') return { not: readOne(fields.value('not')!, fields.name('not'), depth + 1, count) };
  const items = fields.array(group, { max: MAX_COMPARISONS })!;
  if (items.length === 0) throw invalidField(fields.name(group), 'must have at least one condition.');
  const read = items.map((item, index) => readOne(item, `${fields.name(group)}[${index}]`, depth + 1, count));
  return group === 'all' ? { all: read } : { any: read };
}

function readComparison(fields: Fields, value: Json): Comparison {
  fields.refuseUnknown(['parent', 'path', ...OPERATORS, ...GROUPS]);
  const parent = fields.requiredString('parent', { max: MAX_PATH });
  const path = readPath(fields);
  // Not `has`: null is a value that one may compare with.
  const given = OPERATORS.filter((name) => isObject(value) && Object.hasOwn(value, name));
  const [operator] = given;
  if (operator === undefined || given.length > 1)
    throw invalidField(
      fields.name(operator ?? 'equals'),
      `must be one of ${OPERATORS.join(', ')}: exactly one of them.`,
    );
  return { parent, ...(path !== undefined && { path }), [operator]: readOperand(fields, operator, value) };
}

function readOperand(fields: Fields, operator: (typeof OPERATORS)[number], value: Json): Json {
  const operand = (value as Record<string, Json>)[operator] ?? null;
  if (operator === 'equals' || operator === 'notEquals') return operand;
  if (operator === 'in') return fields.array('in', { max: MAX_CHOICES }) ?? refuse(fields, operator, 'an array');
  if (operator === 'exists') return fields.boolean('exists') ?? refuse(fields, operator, 'true or false');
  if (typeof operand === 'number' || typeof operand === 'string') return operand;
  return refuse(fields, operator, 'a number or a string');
}

function refuse(fields: Fields, operator: string, expected: string): never {
  throw invalidField(fields.name(operator), `must be ${expected}.`);
}

function parentsIn(condition: Condition): string[] {
  if ('all' in condition) return condition.all.flatMap(parentsIn);
  if ('any' in condition) return condition.any.flatMap(parentsIn);
  return 'not' in condition ? parentsIn(condition.not) : [condition.parent];
}

/** Whether it holds. `resultOf` answers undefined for a parent that was skipped. Pure: results of parents never change. */
export function holds(condition: Condition, resultOf: (parent: string) => Json | undefined): boolean {
  if ('all' in condition) return condition.all.every((one) => holds(one, resultOf));
  if ('any' in condition) return condition.any.some((one) => holds(one, resultOf));
  if ('not' in condition) return !holds(condition.not, resultOf);
  const found = partOf(resultOf(condition.parent), condition.path);
  if (condition.equals !== undefined) return isDeepStrictEqual(found, condition.equals);
  if (condition.notEquals !== undefined) return !isDeepStrictEqual(found, condition.notEquals);
  if (condition.in !== undefined) return condition.in.some((choice) => isDeepStrictEqual(found, choice));
  if (condition.exists !== undefined) return (found !== undefined && found !== null) === condition.exists;
  if (condition.gt !== undefined) return compares(found, condition.gt, (order) => order > 0);
  if (condition.gte !== undefined) return compares(found, condition.gte, (order) => order >= 0);
  if (condition.lt !== undefined) return compares(found, condition.lt, (order) => order < 0);
  return compares(found, condition.lte!, (order) => order <= 0);
}

/** Numbers with numbers and text with text; nothing else has an order, and then no comparison holds. */
function compares(found: Json | undefined, bound: number | string, test: (order: number) => boolean): boolean {
  if (typeof found !== typeof bound) return false;
  return test(found === bound ? 0 : (found as typeof bound) < bound ? -1 : 1);
}

/** Only what the value itself has: no length, no method, nothing inherited. */
export function partOf(value: Json | undefined, path: string | undefined): Json | undefined {
  if (path === undefined) return value;
  let found = value;
  for (const name of path.split('.')) {
    if (Array.isArray(found)) found = /^\d+$/.test(name) ? found[Number(name)] : undefined;
    else found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}
