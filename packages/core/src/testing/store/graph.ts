import { expect } from 'vitest';
import type { Job } from '../../job/job.ts';
import type { Edge, NewJob } from '../../store/insert.ts';
import { aWorkflow, type JobOverrides } from '../factories.ts';
import { type Bench, COMPLETED, type DEAD, type DISCARDED } from './bench.ts';

/** Rows and edges of a graph given as `child: [its parents]`; nodes without parents start available. */
export function drawGraph(bench: Bench, graph: Record<string, string[]>, more: Record<string, JobOverrides> = {}) {
  const nodes: Record<string, NewJob> = {};
  for (const [node, parents] of Object.entries(graph)) {
    const state = parents.length === 0 ? 'available' : 'pending';
    nodes[node] = bench.make({ workflowId: 'flow', node, state, ...more[node] });
  }
  const edges: Edge[] = Object.entries(graph).flatMap(([child, parents]) =>
    parents.map((parent) => ({ parent: nodes[parent]!.job.id, child: nodes[child]!.job.id })),
  );
  return { nodes, jobs: Object.values(nodes), edges };
}

/** Stores such a graph as the workflow `flow`. */
export async function plant(bench: Bench, graph: Record<string, string[]>, more: Record<string, JobOverrides> = {}) {
  const { nodes, jobs, edges } = drawGraph(bench, graph, more);
  const create = aWorkflow({ total: jobs.length, createdAt: bench.now });
  const [answer] = await bench.store.insert([{ jobs, edges, workflow: { create } }]);
  expect(answer!.status).toBe('inserted');
  return (node: string): Job => nodes[node]!.job;
}

/** Runs one node to its end. */
export async function complete(
  bench: Bench,
  { tenant, id }: Job,
  outcome: typeof COMPLETED | typeof DISCARDED | typeof DEAD = COMPLETED,
): Promise<void> {
  const [answer] = await bench.store.claimById(bench.requestById([id], { tenant }));
  if (answer?.status !== 'claimed') throw new Error(`Expected the node to be claimed, but: ${answer?.status}.`);
  await bench.settle(answer.job, outcome);
}
