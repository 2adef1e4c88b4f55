import { reviewOf, signalOf } from '../job/gate.ts';
import type { Job } from '../job/job.ts';
import type { NodeEnd } from '../job/node-end.ts';
import type { NodeRules, Revision } from '../job/node-rules.ts';
import type { Json } from '../json.ts';
import type { ParentResult } from '../store/workflows.ts';
import { holds, partOf } from './condition.ts';
import { isItemOf, itemName, placeOf } from './item-names.ts';
import { MAX_ITEMS } from './rules.ts';

/** What becomes of a node whose edges are met. */
export type Decision =
  | { do: 'start'; notBefore?: number }
  | { do: 'end'; end: NodeEnd }
  /** A map makes its jobs. */
  | { do: 'plant'; items: Json[]; notBefore?: number }
  /** A gate begins to wait. */
  | { do: 'open' }
  /** The next iteration of a reviewed node is made. */
  | { do: 'revise'; revision: Revision }
  /** It waits for what comes from outside, or for what another server was faster to make. */
  | { do: 'wait' };

/**
 * Decides by the node's rules and by what its parents came to. Pure, and the same whenever it is asked: parents that have
 * completed never change.
 */
export function decide(job: Job, family: readonly ParentResult[]): Decision {
  const { node, spec } = job;
  const { rules = {} } = spec;
  if (rules.review) return ofReview(job, family);
  const isItem = ({ node: name }: ParentResult): boolean => name !== null && node !== null && isItemOf(name, node);
  const items = rules.map ? family.filter(isItem) : [];
  // Already decided: what the map made is there.
  if (items.length > 0) return gather(items);
  const parents = rules.map ? family.filter((one) => !isItem(one)) : family;
  if (!parents.every(({ state }) => state === 'completed')) return { do: 'wait' };
  const reason = skipReason(rules, parents);
  if (reason !== null) return { do: 'end', end: { kind: 'skipped', reason } };
  if (rules.signal) return ofSignal(job);
  const ended = parents.reduce((last, { finishedAt }) => Math.max(last, finishedAt ?? 0), 0);
  const later = rules.delayMs === undefined ? {} : { notBefore: ended + rules.delayMs };
  if (!rules.map) return { do: 'start', ...later };
  return spread(rules.map, parents, later);
}

function ofSignal(job: Job): Decision {
  const signal = signalOf(job);
  if (signal !== null) return { do: 'end', end: { kind: 'passed', result: signal.data } };
  return job.startedAt === null ? { do: 'open' } : { do: 'wait' };
}

/** Its family are the iterations, and each but the first was asked for by a reviewer. */
function ofReview(job: Job, iterations: readonly ParentResult[]): Decision {
  const { iteration, isApproved, feedback, by = null } = reviewOf(job);
  const latest = iterations.find(({ node }) => node === itemName(job.node!, iteration));
  if (latest === undefined)
    return feedback === undefined ? { do: 'wait' } : { do: 'revise', revision: { iteration, feedback, by } };
  if (latest.state !== 'completed') return { do: 'wait' };
  if (latest.outcome === 'skipped') return { do: 'end', end: { kind: 'skipped', reason: 'parents_skipped' } };
  if (isApproved) return { do: 'end', end: { kind: 'passed', result: latest.result } };
  return job.startedAt === null ? { do: 'open' } : { do: 'wait' };
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
