import type { Command } from '../../job/transition.ts';
import type { Edge, NewJob } from '../../store/insert.ts';
import type { JobKey } from '../../store/query.ts';
import { advance } from '../advance.ts';
import { aWorkflow } from '../factories.ts';
import { overridesOf } from './plans.ts';
import type { JobPlan, NodePlan, StepOf } from './steps.ts';
import { type Flow, sorted, type World } from './world.ts';

const keyOf = ({ job }: NewJob): JobKey => ({ tenant: job.tenant, id: job.id });

/** A node that waits for the given ones, or starts at once. Those first in line come to run most often. */
function newNode(world: World, flow: Flow, plan: JobPlan, parents: readonly JobKey[]): { made: NewJob; edges: Edge[] } {
  const overrides = {
    ...overridesOf(world, flow.tenant, { ...plan, pending: parents.length > 0 }),
    idempotencyKey: null,
  };
  const place = parents.length > 0 ? {} : { queue: 'a', priority: 100 };
  const node = `node-${flow.nodes.length}`;
  const made = world.newJob({ ...overrides, ...place, workflowId: flow.id, node });
  const key = keyOf(made);
  flow.nodes.push(key);
  if (parents.length > 0) {
    const names = parents.map(({ tenant, id }) => `${tenant}/${id}`);
    world.parents.set(`${key.tenant}/${key.id}`, names);
  }
  return { made, edges: edgesInto(key, parents) };
}

/** Two parents meet in a join, so that both kinds of edges are tried. */
function edgesInto({ id: child }: JobKey, parents: readonly JobKey[]): Edge[] {
  if (parents.length !== 2) return parents.map(({ id: parent }) => ({ parent, child }));
  // Made from the child's, so that it is like no other.
  const join = child.replace('-7000-', '-7001-');
  const into = parents.map(({ id: parent }): Edge => ({ parent, child: join, join: 'into_join' }));
  return [...into, { parent: join, child, join: 'out_of_join' }];
}

function parentsOf({ parents }: NodePlan, nodes: readonly JobKey[]): JobKey[] {
  if (nodes.length === 0) return [];
  return [...new Set(parents.map((parent) => nodes[parent % nodes.length]!))];
}

export async function insertFlow(world: World, { tenant, nodes }: StepOf<'insertFlow'>): Promise<void> {
  const flow: Flow = { tenant, id: `flow-${world.jobs.length}`, nodes: [] };
  const made = nodes.map((node) => newNode(world, flow, node.plan, parentsOf(node, flow.nodes)));
  const create = aWorkflow({ tenant, id: flow.id, total: nodes.length, createdAt: world.now });
  const group = { jobs: made.map((node) => node.made), edges: made.flatMap((node) => node.edges) };
  await world.both('insert flow', (store) => store.insert([{ ...group, workflow: { create } }]));
  world.flows.push(flow);
}

/** Its parents may have finished long ago, so they are looked at again. */
export async function joinFlow(world: World, step: StepOf<'joinFlow'>): Promise<void> {
  const flow = world.pick(world.flows, step.flow);
  if (!flow) return;
  const rows = await world.model.get(flow.nodes);
  const parents = parentsOf(
    step.node,
    flow.nodes.filter((_, index) => rows[index] !== null),
  );
  if (parents.length === 0) return;
  const { made, edges } = newNode(world, flow, step.node.plan, parents);
  await world.both('join flow', async (store) => {
    const answers = await store.insert([{ jobs: [made], edges, workflow: { join: flow.id } }]);
    return [answers, sorted(await advance(store, parents, world.now))];
  });
}

export async function moveFlow(world: World, { flow, from, to, callback, late }: StepOf<'moveFlow'>): Promise<void> {
  const moved = world.pick(world.flows, flow);
  if (!moved) return;
  const { tenant, id } = moved;
  const jobs = callback ? [world.newJob({ tenant, queue: 'c' })] : [];
  const told = world.told('workflow.cancelled', tenant, id);
  const beside =
    to === 'running' && late ? ({ nextAt: world.now + 1000, reason: 'timeout', skips: true } as const) : {};
  await world.both('move flow', async (store) => [
    await store.workflows.hasUnfinished(tenant, id),
    // A workflow may be gone with its nodes, or outlive them.
    (await store.workflows.hasUnfinished(tenant, id)) &&
      (await store.workflows.move({ tenant, id, from, to, ...beside, now: world.now, jobs, told })),
  ]);
}

/** What the rules of a node may make of it. */
const COMMANDS: Record<StepOf<'advance'>['how'], (now: number) => Command> = {
  start: () => ({ do: 'activate' }),
  delay: (now) => ({ do: 'activate', notBefore: now + 1500 }),
  skip: () => ({ do: 'end', end: { kind: 'skipped', reason: 'condition_false' } }),
  gather: () => ({ do: 'end', end: { kind: 'gathered', results: [{ n: 1 }, null] } }),
  fail: () => ({ do: 'end', end: { kind: 'failed', error: { code: 'map_no_list', message: 'no' } } }),
};

/** By whoever thinks that it is time, whatever has become of the nodes. */
export async function advanceNodes(world: World, step: StepOf<'advance'>): Promise<void> {
  const flow = world.pick(world.flows, step.flow);
  if (!flow) return;
  const nodes = step.nodes.map((node) => flow.nodes[node % flow.nodes.length]!);
  const family = { tenant: flow.tenant, ids: nodes.map(({ id }) => id) };
  await world.both('waiting', async (store) => sorted(await store.workflows.waiting(family)));
  const command = COMMANDS[step.how](world.now);
  await world.both('advance', async (store) => sorted(await advance(store, nodes, world.now, command)));
}
