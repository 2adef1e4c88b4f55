import type { Job } from '../job/job.ts';
import type { Revision } from '../job/node-rules.ts';
import type { Edge } from '../store/insert.ts';
import type { AdvanceParts } from './end.ts';
import { isItemOf, itemName } from './item-names.ts';

/**
 * The next iteration of a reviewed node. Its parents are those of the node and the iteration before, whose output it gets;
 * the gate waits for it. Its name says which iteration it is, so a repetition finds it there.
 */
export async function plantRevision(
  { store, writer, make }: AdvanceParts,
  { tenant, id, workflowId }: Job,
  revision: Revision,
): Promise<void> {
  // As it was found among others it may lack its arguments, where these are kept elsewhere.
  const [gate] = await store.get([{ tenant, id }]);
  if (gate?.state !== 'pending') return;
  const nameOf = (iteration: number): string => itemName(gate.node!, iteration);
  const [iterations = []] = await store.workflows.parents({ tenant, ids: [id] });
  const before = iterations.find(({ node }) => node === nameOf(revision.iteration - 1));
  if (before === undefined) return;
  const [family = []] = await store.workflows.parents({ tenant, ids: [before.id] });
  const parents = family.filter(({ node }) => node === null || !isItemOf(node, gate.node!));
  const made = make.revision(gate, { node: nameOf(revision.iteration), revision });
  const child = made.job.id;
  const edges: Edge[] = [...parents, before].map((parent) => ({ parent: parent.id, child }));
  // Refused where another server was faster, or where the workflow has ended meanwhile: both are as they should be.
  await writer.insert({
    jobs: [made],
    edges: [...edges, { parent: child, child: id }],
    workflow: { join: workflowId! },
  });
}
