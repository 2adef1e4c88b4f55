import type { Comparison, Condition } from '../../job/node-rules.ts';
import type { Json } from '../../json.ts';
import { FAILING_ITEM, type RandomNode, resultOf } from './random-graph.ts';

export type Ending = 'completed' | 'skipped' | 'discarded' | 'cancelled';

export interface ExpectedEnd {
  ending: Ending;
  result: Json | null;
}

/** What a job of a map answers. */
export const itemResult = (item: number): Json => ({ doubled: item * 2 });

/**
 * What must become of each node, its map's jobs included, where the policy is to continue: worked out from the plan in one
 * pass over the nodes, by another way than the engine's and with none of its code.
 */
export function expectedEnds(nodes: readonly RandomNode[]): Map<string, ExpectedEnd> {
  const ends = new Map<string, ExpectedEnd>();
  for (const node of nodes) {
    const family = new Map(node.parents.map((parent) => [parent, ends.get(parent)!]));
    for (const [name, end] of endsOf(node, family)) ends.set(name, end);
  }
  return ends;
}

function endsOf(node: RandomNode, family: ReadonlyMap<string, ExpectedEnd>): [string, ExpectedEnd][] {
  const { id, map, revisions } = node;
  const only = (ending: Ending, result: Json | null = null): [string, ExpectedEnd][] => [[id, { ending, result }]];
  const endings = [...family.values()].map(({ ending }) => ending);
  const work = (ending: Ending): [string, ExpectedEnd][] =>
    revisions === undefined ? [] : [[itemOf(id, 1), { ending, result: null }]];
  if (endings.some((ending) => ending === 'discarded' || ending === 'cancelled'))
    return [...work('cancelled'), ...only('cancelled')];
  if (isSkipped(node, family, endings)) return [...work('skipped'), ...only('skipped')];
  if (revisions !== undefined) return node.fails ? [...work('discarded'), ...only('cancelled')] : reviewed(node);
  if (!map) return node.fails ? only('discarded') : only('completed', node.result);
  const list = (family.get(map.over.parent)!.result as { list?: number[] } | null)?.list;
  if (!Array.isArray(list)) return only('discarded');
  const items = list.map((item, place): [string, ExpectedEnd] => [
    `${id}[${place}]`,
    item >= FAILING_ITEM ? { ending: 'discarded', result: null } : { ending: 'completed', result: itemResult(item) },
  ]);
  if (items.some(([, { ending }]) => ending === 'discarded')) return [...items, ...only('cancelled')];
  return [
    ...items,
    ...only(
      'completed',
      items.map(([, { result }]) => result),
    ),
  ];
}

const itemOf = (id: string, place: number): string => `${id}[${place}]`;

/** All iterations complete, and the last of them is approved. */
function reviewed(node: RandomNode): [string, ExpectedEnd][] {
  const last = 1 + node.revisions!;
  const iterations = Array.from({ length: last }, (_, at): [string, ExpectedEnd] => [
    itemOf(node.id, at + 1),
    { ending: 'completed', result: resultOf(node, at + 1) },
  ]);
  return [...iterations, [node.id, { ending: 'completed', result: resultOf(node, last) }]];
}

function isSkipped(
  { when, ifSkipped }: RandomNode,
  family: ReadonlyMap<string, ExpectedEnd>,
  endings: readonly Ending[],
): boolean {
  const skipped = endings.filter((ending) => ending === 'skipped').length;
  const enough = { skip: skipped === 0, run: true, 'by default': endings.length === 0 || skipped < endings.length };
  return !enough[ifSkipped ?? 'by default'] || (when !== undefined && !isTrue(when, family));
}

function isTrue(condition: Condition, family: ReadonlyMap<string, ExpectedEnd>): boolean {
  if ('not' in condition) return !isTrue(condition.not, family);
  if ('all' in condition) return !condition.all.some((one) => !isTrue(one, family));
  if ('any' in condition) return condition.any.filter((one) => isTrue(one, family)).length > 0;
  const { ending, result } = family.get(condition.parent)!;
  const value = ending === 'skipped' || Array.isArray(result) ? undefined : fieldOf(result, condition);
  if ('gt' in condition) return typeof value === 'number' && value > Number(condition.gt);
  if ('lte' in condition) return typeof value === 'number' && value <= Number(condition.lte);
  if ('in' in condition) return condition.in!.includes(value as Json);
  if ('exists' in condition) return (value === undefined || value === null) !== condition.exists;
  return 'equals' in condition ? value === condition.equals : value !== condition.notEquals;
}

const fieldOf = (result: Json | null, { path }: Comparison): unknown =>
  (result as Record<string, unknown> | null)?.[path!];
