import type { WorkflowSeen } from '../evidence/evidence.ts';
import { type Check, Tally, type World } from './finding.ts';
import type { Placed } from './history.ts';

type Node = WorkflowSeen['nodes'][number];

/** Guarantee 8: a node is dispatched once, after all its parents have completed, with their results. */
export const workflows: Check = (world) => {
  const tally = new Tally('nodes');
  const ends = new Map<string, string[]>();
  const steps = new Map<string, number>();
  for (const { type, subject, jobId } of world.log) {
    if (type === 'workflow.completed' || type === 'workflow.failed')
      ends.set(subject!, [...(ends.get(subject!) ?? []), type]);
    if (type === 'workflow.step_completed') steps.set(jobId!, (steps.get(jobId!) ?? 0) + 1);
  }
  for (const workflow of world.workflows) {
    const named = new Map(workflow.nodes.flatMap((node) => (node.node === null ? [] : [[node.node, node] as const])));
    for (const node of named.values()) {
      tally.count();
      const parents = node.dependsOn.map((name) => named.get(name)).filter((parent) => parent !== undefined);
      tally.expect(parents.length === node.dependsOn.length, () => `node ${node.id} waits for nodes that are gone`);
      checkDispatch(tally, world, node, parents);
      const isCompleted = world.jobs.get(node.id)?.state === 'completed';
      const told = steps.get(node.id) ?? 0;
      tally.expect(told === (isCompleted ? 1 : 0), () => `node ${node.id} was told ${told} times as a completed step`);
    }
    checkState(tally, world, workflow, [...named.values()]);
    const told = ends.get(workflow.id) ?? [];
    // Where the log tells of the ends of workflows, it tells of each once.
    const isTold = ends.size === 0 || workflow.state === 'running' || told.join() === `workflow.${workflow.state}`;
    tally.expect(isTold, () => `workflow ${workflow.id} is ${workflow.state} and has the ends ${told}`);
  }
  return tally.finding;
};

function checkDispatch(tally: Tally, world: World, { id, node }: Node, parents: readonly Node[]): void {
  const { events = [], runs = [] } = world.histories.get(id) ?? {};
  const dispatches = events.filter(({ type }, index) => type === 'job.enqueued' && isFirst(events, index));
  const hasStarted = events.some(({ type }) => type === 'job.started');
  const name = `node ${node} (job ${id})`;
  tally.expect(dispatches.length <= 1, () => `${name} was dispatched ${dispatches.length} times`);
  tally.expect(!hasStarted || dispatches.length > 0, () => `${name} has started without being dispatched`);
  for (const parent of dispatches.length === 0 ? [] : parents) {
    const completed = world.histories.get(parent.id)?.events.find(({ type }) => type === 'job.completed');
    const isBefore = completed !== undefined && comesBefore(world, completed, dispatches[0]!);
    tally.expect(
      isBefore,
      () => `${name} was dispatched before its parent ${parent.node} (job ${parent.id}) had completed`,
    );
  }
  const expected = parents.map((parent) => parent.id).join();
  for (const { run, starts } of runs) {
    for (const start of starts)
      tally.expect(
        start.parents.join() === expected,
        () => `run ${run} of ${name} was given the results of ${start.parents}`,
      );
  }
}

/** Later ones put a job back into its queue. */
const isFirst = (events: readonly Placed[], index: number): boolean =>
  index === 0 || events[index - 1]!.type === 'job.pending';

const comesBefore = (world: World, one: Placed, other: Placed): boolean =>
  world.isOrderExact ? one.place < other.place : one.at <= other.at + world.clockErrorMs;

function checkState(tally: Tally, world: World, { id, state }: WorkflowSeen, nodes: readonly Node[]): void {
  if (state === 'running') return;
  const isCompleted = nodes.every((node) => world.jobs.get(node.id)?.state === 'completed');
  const right = isCompleted ? 'completed' : 'failed';
  tally.expect(state === right, () => `workflow ${id} is ${state}, and its nodes say that it is ${right}`);
}
