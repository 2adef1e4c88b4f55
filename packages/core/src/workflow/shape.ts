import { Fields, isObject } from '../check.ts';
import { type JobRequest, LONGEST_MS } from '../enqueue/envelope.ts';
import { invalidField } from '../errors.ts';
import type { Json, JsonObject } from '../json.ts';
import { SIGNAL_TYPE, withGates } from './gates.ts';
import type { NodeShape } from './node-shape.ts';
import { markSkippable, RULE_NAMES, readRules, refuseRules } from './rules.ts';

export const WORKFLOW_TYPES = ['chain', 'group', 'batch', 'dag'] as const;
export type WorkflowType = (typeof WORKFLOW_TYPES)[number];

export const FAILURE_POLICIES = ['stop', 'continue'] as const;
export type FailurePolicy = (typeof FAILURE_POLICIES)[number];

export const CALLBACKS = ['on_success', 'on_failure', 'on_complete'] as const;
export type Callback = (typeof CALLBACKS)[number];

export interface WorkflowShape {
  type: WorkflowType;
  name: string | null;
  failurePolicy: FailurePolicy;
  /** How long the whole may take. */
  timeoutMs: number | null;
  nodes: readonly NodeShape[];
  callbacks: Partial<Record<Callback, JobRequest>>;
}

export const MAX_NODES = 10_000;
/** Of one request: more would keep the store busy for so long that others notice. */
export const MAX_EDGES = 50_000;
const MAX_NAME = 255;
export const MAX_PARENTS = 1_000;
const NOT_OF_JOB: ReadonlySet<string> = new Set(['id', 'depends_on', ...RULE_NAMES]);
const NODE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._:-]*$/;

/** Reads a workflow as a producer writes it: a chain, a group, a batch, or any graph of nodes with `depends_on`. */
export function checkWorkflow(request: unknown): WorkflowShape {
  const fields = new Fields(request);
  const type = fields.oneOf('type', WORKFLOW_TYPES) ?? (isGraph(fields) ? 'dag' : undefined);
  if (type === undefined) throw invalidField('type', `is required: one of ${WORKFLOW_TYPES.join(', ')}.`);
  const nodes = withDefaults(nodesOf(fields, type, ''), fields.object('options'));
  const expanded = withGates(nodes);
  if (expanded.length > MAX_NODES)
    throw invalidField(listName(type), `must have at most ${MAX_NODES} jobs.`, { max: MAX_NODES });
  checkEdges(nodes, listName(type));
  return {
    type,
    name: fields.string('name', { max: MAX_NAME }) ?? null,
    // A chain cannot go on without its link, and a group's jobs have nothing to do with each other.
    failurePolicy: fields.oneOf('failure_policy', FAILURE_POLICIES) ?? (type === 'chain' ? 'stop' : 'continue'),
    timeoutMs: timeoutIn(fields),
    nodes: markSkippable(expanded),
    callbacks: callbacksOf(fields, type),
  };
}

function timeoutIn(fields: Fields): number | null {
  if (fields.has('timeoutMs')) throw invalidField('timeoutMs', "is not known here. Did you mean 'timeout_ms'?");
  return fields.integer('timeout_ms', { min: 1, max: LONGEST_MS }) ?? null;
}

/** The specification's HTTP binding names no type: its steps have ids and say what they depend on. */
const isGraph = (fields: Fields): boolean =>
  fields.has('nodes') ||
  (fields.array('steps', { max: MAX_NODES }) ?? []).some((step) => isObject(step) && 'id' in step);

/** Options that mean the same: a job that has one of them has no use for the other. */
const SAME: Readonly<Record<string, string>> = {
  ...{ scheduled_at: 'delay_until', delay_until: 'scheduled_at', timeout: 'timeout_ms', timeout_ms: 'timeout' },
  ...{ visibility_timeout: 'visibility_timeout_ms', visibility_timeout_ms: 'visibility_timeout' },
};

/** Options of the workflow hold for every job that has no such option of its own. */
function withDefaults(nodes: NodeShape[], defaults: JsonObject | undefined): NodeShape[] {
  if (defaults === undefined) return nodes;
  return nodes.map((node) => {
    const { options: given } = node.request;
    if (given !== undefined && !isObject(given)) return node;
    const has = (name: string) => name in node.request || (given !== undefined && name in given);
    const missing = Object.entries(defaults).filter(([name]) => !has(name) && !has(SAME[name] ?? name));
    const options = { ...Object.fromEntries(missing), ...given };
    return { ...node, request: { ...node.request, options } };
  });
}

const listName = (type: WorkflowType): string => ({ chain: 'steps', group: 'jobs', batch: 'jobs', dag: 'nodes' })[type];

/** A graph may come as `steps` too. */
const listIn = (fields: Fields, type: WorkflowType): string =>
  type === 'dag' && !fields.has('nodes') && fields.has('steps') ? 'steps' : listName(type);

function nodesOf(fields: Fields, type: WorkflowType, prefix: string): NodeShape[] {
  const list = fields.array(listIn(fields, type), { max: MAX_NODES });
  if (list === undefined || list.length === 0)
    throw invalidField(fields.name(listIn(fields, type)), 'must have at least one item.');
  if (type === 'dag') return checkNodes(list, fields.name(listIn(fields, type)), []);
  return type === 'chain' ? chained(list, prefix) : list.flatMap((item, index) => part(item, `${prefix}${index}`, []));
}

/** Each step waits for all that the step before it ended with. */
function chained(steps: readonly Json[], prefix: string): NodeShape[] {
  const nodes: NodeShape[] = [];
  let last: readonly string[] = [];
  for (const [index, step] of steps.entries()) {
    const added = joined(part(step, `${prefix}${index}`, last), last);
    nodes.push(...added);
    last = ends(added);
  }
  return nodes;
}

/** Where several nodes wait for several others, a join takes the place of n * m edges. */
function joined(nodes: NodeShape[], parents: readonly string[]): NodeShape[] {
  const count = nodes.filter((node) => node.parents === parents).length;
  if (count * parents.length <= count + parents.length) return nodes;
  return nodes.map((node) => (node.parents === parents ? { ...node, isJoined: true } : node));
}

/** A job, or a chain or group inside of a larger one; its first jobs wait for `parents`. */
function part(item: Json, name: string, parents: readonly string[]): NodeShape[] {
  if (!isObject(item)) throw invalidField(name, 'must be a job or a workflow.');
  const isNested = (item['type'] === 'chain' && 'steps' in item) || (item['type'] === 'group' && 'jobs' in item);
  refuseRules(item, name);
  if (!isNested) return [{ name, request: item as unknown as JobRequest, parents }];
  const inner = nodesOf(new Fields(item, name), item['type'] as WorkflowType, `${name}.`);
  return inner.map((node) => (node.parents.length === 0 ? { ...node, parents } : node));
}

/** The nodes that no other node of these waits for. */
function ends(nodes: readonly NodeShape[]): string[] {
  const waitedFor = new Set<string>();
  // Lists that several nodes share are walked once.
  for (const parents of new Set(nodes.map((node) => node.parents))) for (const name of parents) waitedFor.add(name);
  return nodes.map(({ name }) => name).filter((name) => !waitedFor.has(name));
}

function checkEdges(nodes: readonly NodeShape[], field: string): void {
  const lists = new Set(nodes.filter(({ isJoined }) => isJoined).map(({ parents }) => parents));
  const count = (sum: number, parents: readonly string[]): number => sum + parents.length;
  const plain = nodes.reduce((sum, { isJoined, parents }) => sum + (isJoined ? 1 : parents.length), 0);
  const edges = [...lists].reduce(count, plain);
  if (edges <= MAX_EDGES) return;
  const bound = { max: MAX_EDGES, edges };
  throw invalidField(field, `depend on each other ${edges} times; at most ${MAX_EDGES} times are allowed.`, bound);
}

function callbacksOf(fields: Fields, type: WorkflowType): WorkflowShape['callbacks'] {
  const callbacks = fields.fields('callbacks');
  if (callbacks === undefined) {
    if (type === 'batch') throw invalidField('callbacks', 'is required: a batch without callbacks is a group.');
    return {};
  }
  const unknown = Object.keys(callbacks.rest(new Set(CALLBACKS)) ?? {})[0];
  if (unknown !== undefined)
    throw invalidField(`callbacks.${unknown.slice(0, 50)}`, `is none of ${CALLBACKS.join(', ')}.`);
  const found = CALLBACKS.flatMap((name) => {
    const request = callbacks.object(name);
    return request === undefined ? [] : [[name, request as unknown as JobRequest] as const];
  });
  if (found.length === 0) throw invalidField('callbacks', `must have at least one of ${CALLBACKS.join(', ')}.`);
  return Object.fromEntries(found);
}

/** Nodes of a graph: names once each, parents that exist (here or already in the workflow), no circle. */
export function checkNodes(list: readonly Json[], field: string, existing: readonly string[]): NodeShape[] {
  const nodes = list.map((item, index) => readNode(item, `${field}[${index}]`));
  const before = new Set(existing);
  const known = new Set(existing);
  for (const [index, { name }] of nodes.entries()) {
    if (known.has(name)) {
      const where = before.has(name) ? ', which exists already in this workflow' : '';
      throw invalidField(`${field}[${index}].id`, `repeats '${name}'${where}: every node needs a name of its own.`);
    }
    known.add(name);
  }
  for (const [index, { parents }] of nodes.entries()) {
    const stranger = parents.find((parent) => !known.has(parent));
    if (stranger !== undefined)
      throw invalidField(`${field}[${index}].depends_on`, `names '${stranger}', which is no node here.`);
  }
  checkEdges(nodes, field);
  refuseCircles(nodes, field);
  return nodes;
}

export function readNode(item: Json, field: string): NodeShape {
  const fields = new Fields(item, field);
  const name = fields.requiredString('id', { max: MAX_NAME });
  if (!NODE_NAME.test(name)) throw invalidField(`${field}.id`, 'must be letters, digits and . _ : -.');
  const parents = [...new Set(fields.strings('depends_on', { max: MAX_PARENTS }) ?? [])];
  const { id: _, depends_on: __, job, ...others } = item as Record<string, Json>;
  const asked = readRules(fields, field, parents);
  if (asked.rules?.signal) return { name, parents, request: { type: SIGNAL_TYPE, args: [] }, ...asked };
  const flat = asked.rules === undefined ? others : (fields.rest(NOT_OF_JOB) ?? {});
  return { name, parents, request: (isObject(job) ? job : flat) as unknown as JobRequest, ...asked };
}

/** Takes away what waits for nothing until nothing is left; what remains waits for itself. */
function refuseCircles(nodes: readonly NodeShape[], field: string): void {
  const here = new Set(nodes.map(({ name }) => name));
  const open = new Map(nodes.map(({ name, parents }) => [name, parents.filter((parent) => here.has(parent)).length]));
  const children = new Map<string, string[]>();
  for (const { name, parents } of nodes) {
    for (const parent of parents) {
      const known = children.get(parent);
      if (known) known.push(name);
      else children.set(parent, [name]);
    }
  }
  const free = [...open].filter(([, count]) => count === 0).map(([name]) => name);
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    open.delete(name);
    for (const child of children.get(name) ?? []) {
      const left = open.get(child)! - 1;
      open.set(child, left);
      if (left === 0) free.push(child);
    }
  }
  const stuck = [...open.keys()].slice(0, 5);
  if (stuck.length > 0)
    throw invalidField(field, `go in a circle: ${stuck.join(', ')} wait for each other.`, { nodes: stuck });
}
