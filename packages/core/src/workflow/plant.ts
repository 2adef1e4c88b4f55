import { evolve } from '../job/evolve.ts';
import { newJobId } from '../job/id.ts';
import type { Edge, NewJob } from '../store/insert.ts';
import type { NodeShape } from './node-shape.ts';

/**
 * Rows and edges for a graph. A node with parents begins pending; one with a parent outside of this graph is marked,
 * so that the engine looks whether that parent has finished already. So is one that waits for a signal and for nothing else.
 */
export function plant(
  nodes: readonly NodeShape[],
  make: (node: NodeShape) => NewJob,
  outside: ReadonlyMap<string, string>,
): { jobs: NewJob[]; edges: Edge[] } {
  const made = nodes.map((node) => ({ node, born: make(node) }));
  const ids = new Map([...outside, ...made.map(({ node, born }) => [node.name, born.job.id] as const)]);
  const jobs = made.map(({ node, born }) => {
    if (node.parents.length > 0)
      return waiting(
        born,
        node.parents.some((parent) => outside.has(parent)),
      );
    return node.rules?.signal ? waiting(born, true) : born;
  });
  const joins = new Map<readonly string[], string>();
  const edges = made.flatMap(({ node, born: { job } }): Edge[] => {
    const into = (child: string): Edge[] => node.parents.map((parent) => ({ parent: ids.get(parent)!, child }));
    if (!node.isJoined) return into(job.id);
    const known = joins.get(node.parents);
    const join = known ?? newJobId(job.createdAt);
    joins.set(node.parents, join);
    const before = known === undefined ? into(join).map((edge): Edge => ({ ...edge, join: 'into_join' })) : [];
    return [...before, { parent: join, child: job.id, join: 'out_of_join' }];
  });
  return { jobs, edges };
}

function waiting(born: NewJob, advancePending: boolean): NewJob {
  const unborn = { ...born.job, version: 0 };
  const { job, events } = evolve(
    unborn,
    { state: 'pending', enqueuedAt: null, advancePending },
    [['job.pending']],
    born.job.createdAt,
  );
  return { ...born, job, events };
}
