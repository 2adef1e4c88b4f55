import { isDeepStrictEqual } from 'node:util';
import { Fields } from '../check.ts';
import type { Enqueuer } from '../enqueue/enqueue.ts';
import { invalidField, WaybillError } from '../errors.ts';
import type { Job } from '../job/job.ts';
import type { Json } from '../json.ts';
import type { Edge, NewJob } from '../store/insert.ts';
import type { Store } from '../store/store.ts';
import { withGates } from './gates.ts';
import { isItemOf, placeOf } from './item-names.ts';
import type { NodeShape } from './node-shape.ts';
import { plant } from './plant.ts';
import { markSkippable, maySkip, withConcurrency } from './rules.ts';
import { checkNodes, MAX_NODES, readNode } from './shape.ts';

/** Rows read at once. */
const SLICE = 500;

/**
 * What a producer says of a job: `spec` has every option that is not one of these columns, `pending` and times included. The
 * rest follows from it, or from what has become of the job.
 */
const SAID = ['type', 'queue', 'priority', 'timeoutMs', 'visibilityMs', 'limitKey', 'spec'] as const;

interface AddParts {
  store: Store;
  enqueuer: Enqueuer;
}

interface Addition {
  tenant: string;
  /** The workflow that nodes are added to. */
  id: string;
  list: unknown;
  /** Its nodes so far, from their names to their ids. */
  existing: ReadonlyMap<string, string>;
  /** Those of them that may be skipped, or stand behind one that may. */
  skippable: ReadonlySet<string>;
  /** How many they are. */
  total: number;
}

/** The rows and edges of further nodes; null: a call before this one has added the very same. */
export async function further(
  { store, enqueuer }: AddParts,
  { tenant, id, list, existing, skippable, total }: Addition,
): Promise<{ jobs: NewJob[]; edges: Edge[]; skips: boolean } | null> {
  const items = new Fields({ nodes: list as Json }).array('nodes', { max: MAX_NODES }) ?? [];
  if (items.length === 0) throw invalidField('nodes', 'must have at least one item.');
  const make = (node: NodeShape): NewJob => makeNode(enqueuer, node, { tenant, id });
  const read = items.map((item, index) => readNode(item, `nodes[${index}]`));
  const asked = markSkippable(withGates(read), skippable);
  if (asked.every(({ name }) => existing.has(name)) && (await areSame(store, tenant, asked, make, existing)))
    return null;
  const room = MAX_NODES - total;
  if (asked.length > room) throw invalidField('nodes', `must have at most ${room} items.`, { max: room });
  const nodes = markSkippable(withGates(checkNodes(items, 'nodes', [...existing.keys()])), skippable);
  return { ...plant(nodes, make, existing), skips: maySkip(nodes) };
}

/** The row of a node, and the refusal of its job under its name. */
export const makeNode = (enqueuer: Enqueuer, node: NodeShape, { tenant, id }: { tenant: string; id: string }): NewJob =>
  within(node.name, () => {
    const rules = node.rules && { rules: node.rules };
    return enqueuer.make(withConcurrency(node, id), tenant, { id, node: node.name, ...rules });
  });

/** Without the jobs that a map has made, which it waits for too. */
export const askedParents = ({ node, spec }: Job, names: string[]): string[] =>
  spec.rules?.map && node !== null ? names.filter((name) => !isItemOf(name, node)) : names;

/** What a reviewer has asked for since is no part of what the producer said. */
const saidParents = (job: Job, names: string[]): string[] =>
  job.spec.rules?.review ? names.filter((name) => placeOf(name) === 1) : askedParents(job, names);

/** Whether these nodes are there as they are asked for: whoever repeats a call gets the answer of the first one. */
async function areSame(
  store: Store,
  tenant: string,
  asked: readonly NodeShape[],
  make: (node: NodeShape) => NewJob,
  existing: ReadonlyMap<string, string>,
): Promise<boolean> {
  for (let from = 0; from < asked.length; from += SLICE) {
    const slice = asked.slice(from, from + SLICE);
    const ids = slice.map(({ name }) => existing.get(name)!);
    const jobs = await store.get(ids.map((id) => ({ tenant, id })));
    const families = await store.workflows.parents({ tenant, ids });
    const isSame = (node: NodeShape, index: number): boolean => {
      const names = families[index]!.map((parent) => parent.node).filter((name) => name !== null);
      const job = jobs[index]!;
      if (!isSaid(make(node).job, node.request.id, job)) return false;
      return isDeepStrictEqual(saidParents(job!, names), node.parents);
    };
    if (!slice.every(isSame)) return false;
  }
  return true;
}

const isSaid = (asked: Job, id: unknown, found: Job | null): boolean =>
  found !== null &&
  (id === undefined || id === found.id) &&
  SAID.every((field) => isDeepStrictEqual(saidOf(asked)[field], saidOf(found)[field]));

/** Whether nodes before it may be skipped depends on what is there when it is added, and is nothing that its producer says. */
function saidOf(job: Job): Job {
  const { rules, ...spec } = job.spec;
  return rules && Object.keys(rules).length === 0 ? { ...job, spec } : job;
}

/** Names the part of the workflow in the refusal of its field. */
export function within<T>(name: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof WaybillError)) throw error;
    throw new WaybillError(error.code, `${name}: ${error.message}`, { details: { ...error.details, node: name } });
  }
}
