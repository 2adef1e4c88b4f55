import { type Condition, checkNames, type IfSkipped, isObject, type MapRule } from '@waybill/core';
import { checkGiven, PARENT_NAMES, type TaskDefaults } from '@waybill/worker';
import { checkEnvelopeNames } from './envelope-names.ts';
import { type AnyJob, envelopeOf, type PlainJob, refuseTask, TaskJob } from './task-job.ts';

interface Named {
  name?: string;
  /** How long the whole may take, in milliseconds. */
  timeout_ms?: number;
  failure_policy?: 'stop' | 'continue';
  callbacks?: { on_success?: AnyJob; on_failure?: AnyJob; on_complete?: AnyJob };
}

interface Chain {
  type: 'chain';
  steps: readonly WorkflowPart[];
}

interface Group {
  type: 'group';
  jobs: readonly WorkflowPart[];
}

/** A job, or a chain or group inside of a larger one. */
export type WorkflowPart = AnyJob | Chain | Group;

interface NodePlace {
  /** The node's name. */
  id: string;
  /** Names of the nodes that must complete first. */
  depends_on?: readonly string[];
  /** It is skipped unless this holds of what its parents returned. */
  when?: Condition;
  /** Milliseconds after the last of its parents has ended. */
  delay_ms?: number;
  /** @defaultValue it runs if at least one parent has completed */
  if_skipped?: IfSkipped;
  /** One job for each item of a list that a parent returned. */
  map?: MapRule & { concurrency?: number };
  /** What stands behind it waits until it is approved. */
  review?: boolean | { timeout_ms?: number };
}

/** It waits for the signal of its name, whose data is its result. */
type SignalNode = Pick<NodePlace, 'id' | 'depends_on' | 'when' | 'if_skipped'> & {
  signal: true | { timeout_ms?: number };
};

/** `{ id, depends_on, job: jobOf(task, input) }`, or the fields of a plain job beside them. */
export type GraphNode = (NodePlace & ({ job: AnyJob } | PlainJob)) | SignalNode;

/** A chain, a group, a batch, or any graph; see docs/workflows.md. */
export type WorkflowRequest = Named &
  (Chain | Group | { type: 'batch'; jobs: readonly WorkflowPart[] } | { type?: 'dag'; nodes: readonly GraphNode[] });

const NAMES = ['type', 'name', 'timeout_ms', 'failure_policy', 'callbacks', 'steps', 'jobs', 'nodes'];
const NODE_NAMES = ['id', 'depends_on', 'when', 'delay_ms', 'if_skipped', 'map', 'review', 'signal', 'job'];
const CALLBACKS = ['on_success', 'on_failure', 'on_complete'];

/** Checks the names in it, and the input of its tasks. What is left is the engine's to check. */
export async function plainWorkflow(request: unknown, defaults: TaskDefaults | undefined): Promise<unknown> {
  checkNames('A workflow', request, NAMES);
  const { callbacks, nodes, ...rest } = request as Record<string, unknown>;
  return {
    ...(await parts(rest, '', defaults)),
    ...(nodes !== undefined && { nodes: await plainNodes(nodes, defaults) }),
    ...(callbacks !== undefined && { callbacks: await plainCallbacks(callbacks, defaults) }),
  };
}

export async function plainNodes(nodes: unknown, defaults: TaskDefaults | undefined): Promise<unknown> {
  if (!Array.isArray(nodes)) return nodes;
  return Promise.all(nodes.map((node, index) => plainNode(node, `nodes[${index}]`, defaults)));
}

async function plainNode(node: unknown, place: string, defaults: TaskDefaults | undefined): Promise<unknown> {
  if (!isObject(node)) return node;
  if (!('job' in node)) {
    refuseTask(node, place);
    checkEnvelopeNames({ at: place, beside: NODE_NAMES }, node);
    return node;
  }
  checkNames(place, node, NODE_NAMES);
  const { job, depends_on: parents = [] } = node as { job: unknown; depends_on?: string[] };
  if (job instanceof TaskJob && job.task?.parents !== undefined && Array.isArray(parents)) {
    const { meta = {} } = job.options;
    const names = (meta[PARENT_NAMES] as string[] | undefined) ?? parents;
    checkGiven(job.task, names, place);
    const named = new TaskJob(
      job.task,
      job.input,
      { ...job.options, meta: { ...meta, [PARENT_NAMES]: names } },
      job.isItem,
    );
    return { ...(node as object), job: await envelopeOf(named, `${place}.job`, defaults) };
  }
  return { ...(node as object), job: await envelopeOf(node['job'], `${place}.job`, defaults) };
}

async function plainCallbacks(callbacks: unknown, defaults: TaskDefaults | undefined): Promise<unknown> {
  checkNames('callbacks', callbacks, CALLBACKS);
  const entries = Object.entries(callbacks as object).map(
    async ([name, job]) => [name, await envelopeOf(job, `callbacks.${name}`, defaults)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** Steps and jobs, which may be chains and groups themselves. */
async function parts(holder: Record<string, unknown>, prefix: string, defaults: TaskDefaults | undefined) {
  const found: Record<string, unknown> = { ...holder };
  for (const list of ['steps', 'jobs']) {
    const items = holder[list];
    if (!Array.isArray(items)) continue;
    found[list] = await Promise.all(items.map((item, index) => part(item, `${prefix}${list}[${index}]`, defaults)));
  }
  return found;
}

async function part(item: unknown, place: string, defaults: TaskDefaults | undefined): Promise<unknown> {
  const isNested = !(item instanceof TaskJob) && isObject(item) && ('steps' in item || 'jobs' in item);
  if (!isNested) return envelopeOf(item, place, defaults);
  checkNames(place, item, ['type', 'steps', 'jobs']);
  return parts(item as Record<string, unknown>, `${place}.`, defaults);
}
