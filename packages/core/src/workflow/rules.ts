import { type Fields, isObject } from '../check.ts';
import { closest } from '../closest.ts';
import { ENVELOPE_NAMES, LONGEST_MS, OPTION_NAMES } from '../enqueue/envelope.ts';
import { invalidField } from '../errors.ts';
import { IF_SKIPPED, type MapRule, type NodeRules } from '../job/node-rules.ts';
import type { Json, JsonObject } from '../json.ts';
import { checkParent, readCondition, readPath } from './condition.ts';
import { checkSignal, readGate } from './gates.ts';
import type { AskedRules, NodeShape } from './node-shape.ts';

/** Beside the job of a node. A job has no such fields, so they are never taken for unknown ones that are kept. */
export const RULE_NAMES = ['when', 'delay_ms', 'if_skipped', 'map', 'signal', 'review'] as const;
/** What these say is about a node's parents. */
const OF_PARENTS = ['when', 'delay_ms', 'if_skipped', 'map'] as const;
const MAP_NAMES = ['over', 'limit', 'concurrency'];

export const MAX_ITEMS = 10_000;
const MAX_CONCURRENCY = 1_000_000;

/** `field` is the node's place in the request, for refusals. */
export function readRules(fields: Fields, field: string, parents: readonly string[]): AskedRules {
  refuseNear(fields, field);
  if (!RULE_NAMES.some((name) => fields.has(name))) return {};
  const named = OF_PARENTS.find((name) => fields.has(name));
  if (named !== undefined && parents.length === 0)
    throw invalidField(`${field}.${named}`, "is about a node's parents: name them in 'depends_on'.");
  const when = fields.value('when');
  const delayMs = fields.integer('delay_ms', { min: 0, max: LONGEST_MS });
  const ifSkipped = fields.oneOf('if_skipped', IF_SKIPPED);
  const map = fields.fields('map');
  const [signal, review] = [readGate(fields, 'signal'), readGate(fields, 'review')];
  if (signal) checkSignal(fields);
  if (review && map)
    throw invalidField(
      `${field}.review`,
      "contradicts 'map': review a node behind the map, which gets all its results.",
    );
  const concurrency = map?.integer('concurrency', { min: 1, max: MAX_CONCURRENCY });
  const rules: NodeRules = {
    ...(when !== undefined && { when: readCondition(when, `${field}.when`, parents) }),
    ...(delayMs !== undefined && delayMs > 0 && { delayMs }),
    ...(ifSkipped && { ifSkipped }),
    ...(map && { map: readMap(map, `${field}.map`, parents) }),
    ...(signal && { signal }),
    ...(review && { review }),
  };
  return { rules, ...(concurrency !== undefined && { concurrency }) };
}

function readMap(map: Fields, field: string, parents: readonly string[]): MapRule {
  map.refuseUnknown(MAP_NAMES);
  const over = map.fields('over');
  if (over === undefined) throw invalidField(`${field}.over`, 'is required: the parent that returns the list.');
  over.refuseUnknown(['parent', 'path']);
  const parent = over.requiredString('parent');
  checkParent(parent, `${field}.over.parent`, parents);
  const path = readPath(over);
  const limit = map.integer('limit', { min: 1, max: MAX_ITEMS });
  return { over: { parent, ...(path !== undefined && { path }) }, ...(limit !== undefined && { limit }) };
}

const KNOWN: ReadonlySet<string> = new Set([
  ...RULE_NAMES,
  ...['id', 'depends_on', 'job'],
  ...ENVELOPE_NAMES,
  ...OPTION_NAMES,
]);

/** Unknown fields of a job are kept; one that is nearly a rule was meant as one. */
function refuseNear(fields: Fields, field: string): void {
  for (const name of Object.keys(fields.rest(KNOWN) ?? {})) {
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const meant = closest(snake, RULE_NAMES) ?? (snake === 'delay' ? 'delay_ms' : undefined);
    if (meant !== undefined && snake.length > 3)
      throw invalidField(`${field}.${name.slice(0, 100)}`, `is not known here. Did you mean '${meant}'?`);
  }
}

/** Steps of chains and jobs of groups have no names that a rule could speak of. */
export function refuseRules(item: JsonObject, field: string): void {
  const named = RULE_NAMES.find((name) => name in item);
  if (named === undefined) return;
  throw invalidField(`${field}.${named}`, "is for nodes of a graph: send 'nodes' with 'id' and 'depends_on'.");
}

/**
 * Marks the nodes of which a parent may be skipped, so that the engine reads their parents before it starts them. All other
 * nodes without rules start unread. `skippable` are nodes that are there already.
 */
export function markSkippable(nodes: readonly NodeShape[], skippable: ReadonlySet<string> = new Set()): NodeShape[] {
  const children = new Map<string, NodeShape[]>();
  for (const node of nodes) {
    for (const parent of node.parents) {
      const known = children.get(parent);
      if (known) known.push(node);
      else children.set(parent, [node]);
    }
  }
  const open = [...skippable, ...nodes.filter(({ rules }) => rules?.when).map(({ name }) => name)];
  const maySkip = new Set(open);
  const marked = new Set<string>();
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const child of children.get(name) ?? []) {
      marked.add(child.name);
      if (maySkip.has(child.name) || child.rules?.ifSkipped === 'run') continue;
      maySkip.add(child.name);
      open.push(child.name);
    }
  }
  if (marked.size === 0) return [...nodes];
  return nodes.map((node) => (marked.has(node.name) && !node.rules ? { ...node, rules: {} } : node));
}

const MAX_KEY = 255;

/** The jobs of a map share a limit key of their own. */
export function withConcurrency({ name, request, concurrency }: NodeShape, workflowId: string): NodeShape['request'] {
  if (concurrency === undefined || !isObject(request)) return request;
  const key = `map:${workflowId}:${name}`;
  if (key.length > MAX_KEY) throw invalidField('id', `is too long for a map with 'concurrency': use a shorter name.`);
  const options = (isObject(request['options']) ? request['options'] : {}) as Record<string, Json>;
  if ('rate_limit' in request || 'rate_limit' in options)
    throw invalidField('map.concurrency', "contradicts 'rate_limit' of the job: send one of them.");
  return { ...request, options: { ...options, rate_limit: { key, concurrency } } } as NodeShape['request'];
}

/** Only a condition skips a node by itself, and all others that are skipped stand behind such a one. */
export const maySkip = (nodes: readonly NodeShape[]): boolean => nodes.some(({ rules }) => rules?.when !== undefined);
