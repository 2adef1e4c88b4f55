import { changesOf } from '../commit/row-change.ts';
import { WaybillError } from '../errors.ts';
import { isGate } from '../job/gate.ts';
import type { Job } from '../job/job.ts';
import type { NodeEnd } from '../job/node-end.ts';
import type { Edge } from '../store/insert.ts';
import type { Store } from '../store/store.ts';
import type { WorkflowRecord } from '../store/workflow-record.ts';
import { type Decision, decide } from './decide.ts';
import type { AdvanceParts } from './end.ts';
import { isItemOf, itemName } from './item-names.ts';
import { plantRevision } from './plant-revision.ts';
import { MAX_NODES } from './shape.ts';

type Plant = Extract<Decision, { do: 'plant' }>;

/**
 * Nodes that have rules and wait for nothing more. Each is decided about and moved in one compare-and-set, so that of
 * several servers one moves it; all decide the same.
 */
export async function followRules(
  parts: AdvanceParts,
  tenant: string,
  nodes: readonly Job[],
  records: ReadonlyMap<string, WorkflowRecord>,
): Promise<void> {
  const { store, writer } = parts;
  const families = await store.workflows.parents({ tenant, ids: nodes.map(({ id }) => id) });
  const whole = await withGateStates(store, nodes);
  const decided = whole.map((node, index) => ({ node, decision: decide(node, families[index]!) }));
  await writer.apply(
    decided.flatMap(({ node, decision }) => {
      if (decision.do === 'open') return changesOf(store, [node], { do: 'open' });
      if (decision.do !== 'start') return [];
      const { notBefore } = decision;
      return changesOf(store, [node], { do: 'activate', ...(notBefore !== undefined && { notBefore }) });
    }),
  );
  for (const { node, decision } of decided) {
    if (decision.do === 'end') await endNode(parts, node, decision.end);
    else if (decision.do === 'plant') await plantItems(parts, node, decision, records.get(node.workflowId!)!);
    else if (decision.do === 'revise') await plantRevision(parts, node, decision.revision);
  }
}

/** As they were found among others, what gates were told may be kept elsewhere. */
async function withGateStates(store: Store, nodes: readonly Job[]): Promise<Job[]> {
  const told = nodes.filter((node) => isGate(node) && node.result !== null);
  if (told.length === 0) return [...nodes];
  const read = await store.get(told.map(({ tenant, id }) => ({ tenant, id })));
  const byId = new Map(read.filter((job) => job !== null).map((job) => [job.id, job]));
  return nodes.map((node) => byId.get(node.id) ?? node);
}

/** By itself: the results of a map may be more than a row can keep, and then that is how it ends. */
async function endNode({ store, writer, make }: AdvanceParts, node: Job, end: NodeEnd): Promise<void> {
  try {
    const changes = changesOf(store, [node], { do: 'end', end });
    // One that was skipped is no step that has completed.
    const steps =
      end.kind === 'gathered' || end.kind === 'passed'
        ? await Promise.all(changes.map(({ job }) => make.step(job)))
        : [];
    await writer.apply(
      changes.map((change, at) => (steps[at] ? { ...change, events: [...change.events, steps[at]] } : change)),
    );
  } catch (error) {
    if (end.kind !== 'gathered' || !(error instanceof WaybillError) || error.code !== 'payload_too_large') throw error;
    const message = `The results of '${node.node}' are too large together. Let its jobs return references. ${error.message}`;
    const failed = { kind: 'failed', error: { code: 'map_result_too_large', message, retryable: false } } as const;
    await writer.apply(changesOf(store, [node], { do: 'end', end: failed }));
  }
}

/**
 * All jobs of a map at once, or none: their names say what they are, so a repetition finds them there. The map waits for
 * them by edges of its own, and is looked at again when they have completed.
 */
async function plantItems(
  parts: AdvanceParts,
  { tenant, id }: Job,
  { items, notBefore }: Plant,
  record: WorkflowRecord,
): Promise<void> {
  const { store, writer, make } = parts;
  // As it was found among others it may lack its arguments, where these are kept elsewhere.
  const [map] = await store.get([{ tenant, id }]);
  if (map?.state !== 'pending') return;
  const room = MAX_NODES - record.total;
  if (items.length > room) {
    // Another map may have taken the room since another server made these very jobs.
    const [family = []] = await store.workflows.parents({ tenant, ids: [id] });
    if (family.some(({ node }) => node !== null && isItemOf(node, map.node!))) return;
    const message = `${items.length} items and ${record.total} nodes are more than the ${MAX_NODES} nodes of a workflow.`;
    return endNode(parts, map, { kind: 'failed', error: { code: 'map_too_long', message, retryable: false } });
  }
  const later = notBefore === undefined ? {} : { notBefore };
  const jobs = items.map((item, place) => make.item(map, { node: itemName(map.node!, place), item, ...later }));
  const edges = jobs.map(({ job }): Edge => ({ parent: job.id, child: id }));
  // Refused where another server was faster, or where the workflow has ended meanwhile: both are as they should be.
  await writer.insert({ jobs, edges, workflow: { join: record.id } });
}
