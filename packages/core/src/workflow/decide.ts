import type { Job } from '../job/job.ts';
import type { NodeEnd } from '../job/node-end.ts';
import type { NodeRules } from '../job/node-rules.ts';
import type { Json } from '../json.ts';
import type { ParentResult } from '../store/workflows.ts';
import { holds, partOf } from './condition.ts';
import { isItemOf, placeOf } from './item-names.ts';
import { MAX_ITEMS } from './rules.ts';

/** What becomes of a node whose edges are met. */
export type Decision =
  | { do: 'start'; notBefore?: number }
  | { do: 'end'; end: NodeEnd }
  /** A map makes its jobs. */
  | { do: 'plant'; items: Json[]; notBefore?: number }
  /** Another server was faster: the node waits for what that one has made. */
  | { do: 'wait' };

/**
 * Decides by the node's rules and by what its parents came to. Pure, and the same whenever it is asked: parents that have
 * completed never change.
 */
export function decide({ node, spec: { rules = {} } }: Job, family: readonly ParentResult[]): Decision {
  const isItem = ({ node: name }: ParentResult): boolean => name !== null && node !== null && isItemOf(name, node);
  const items = rules.map ? family.filter(isItem) : [];
  // Already decided: what the map made is there.
  if (items.length > 0) return gather(items);
  const parents = rules.map ? family.filter((one) => !isItem(one)) : family;
  if (!parents.every(({ state }) => state === 'completed')) return { do: 'wait' };
  const reason = skipReason(rules, parents);
  if (reason !== null) return { do: 'end', end: { kind: 'skipped', reason } };
  const ended = parents.reduce((last, { finishedAt }) => Math.max(last, finishedAt ?? 0), 0);
  const later = rules.delayMs === undefined ? {} : { notBefore: ended + rules.delayMs };
  if (!rules.map) return { do: 'start', ...later };
  return spread(rules.map, parents, later);
}

function skipReason({ when, ifSkipped }: NodeRules, parents: readonly ParentResult[]): string | null {
  const skipped = parents.filter(({ outcome }) => outcome === 'skipped');
  const isOut = ifSkipped === 'skip' ? skipped.length > 0 : ifSkipped !== 'run' && skipped.length === parents.length;
  if (isOut && parents.length > 0) return 'parents_skipped';
  const results = new Map(parents.map((one) => [one.node, one.outcome === 'skipped' ? undefined : one.result]));
  return when === undefined || holds(when, (parent) => results.get(parent)) ? null : 'condition_false';
}

function spread(
  { over, limit = MAX_ITEMS }: NonNullable<NodeRules['map']>,
  parents: readonly ParentResult[],
  later: { notBefore?: number },
): Decision {
  const parent = parents.find(({ node }) => node === over.parent);
  const list = parent?.outcome === 'skipped' ? undefined : partOf(parent?.result, over.path);
  const where = over.path === undefined ? `The result of '${over.parent}'` : `'${over.path}' of '${over.parent}'`;
  if (!Array.isArray(list)) {
    const found = list === undefined ? 'absent' : list === null ? 'null' : typeof list;
    return failed('map_no_list', `${where} is ${found}. A map needs a list.`);
  }
  if (list.length > limit) return failed('map_too_long', `${where} has ${list.length} items; the limit is ${limit}.`);
  if (list.length === 0) return { do: 'end', end: { kind: 'gathered', results: [] } };
  return { do: 'plant', items: list, ...later };
}

/** In the order of the list, whatever the order in which they ended. */
function gather(items: readonly ParentResult[]): Decision {
  if (!items.every(({ state }) => state === 'completed')) return { do: 'wait' };
  const inOrder = items.toSorted((a, b) => placeOf(a.node!) - placeOf(b.node!));
  return { do: 'end', end: { kind: 'gathered', results: inOrder.map(({ result }) => result) } };
}

const failed = (code: string, message: string): Decision => ({
  do: 'end',
  end: { kind: 'failed', error: { code, message, retryable: false } },
});
