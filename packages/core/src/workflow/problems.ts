import { isObject } from '../check.ts';
import { closest, didYouMean } from '../closest.ts';
import { checkPlain, ENVELOPE_NAMES, MANAGED_NAMES, OPTION_NAMES } from '../enqueue/envelope.ts';
import { WaybillError } from '../errors.ts';
import type { Json, JsonObject } from '../json.ts';
import { RULE_NAMES } from './rules.ts';
import { CALLBACKS, checkWorkflow, MAX_PARENTS, readNode } from './shape.ts';

export interface WorkflowProblem {
  /** Where in the request it is: `['nodes', 2, 'options', 'queue']`. */
  path: readonly (string | number)[];
  message: string;
}

type Path = WorkflowProblem['path'];

const MOST = 100;
/** Fields of one part that are found bad one after the other. */
const MOST_OF_ONE = 20;
const MOST_NAMES = 500;
const WORKFLOW_NAMES = [
  ...['type', 'name', 'nodes', 'steps', 'jobs', 'callbacks', 'options', 'failure_policy', 'timeout_ms'],
];
const NODE_NAMES = ['id', 'depends_on', 'job', ...RULE_NAMES];
const JOB_NAMES = [...ENVELOPE_NAMES, ...OPTION_NAMES, ...MANAGED_NAMES];
const LISTS = ['nodes', 'steps', 'jobs'] as const;
/** A job without faults, which stands in for what is looked at by itself. */
const SOUND: JsonObject = { type: 'a.b', args: [] };

/**
 * Everything that is wrong with a request for a workflow, where `create` names the first fault only; for people who write
 * one by hand. Each rule is asked again without the field that it has refused, so that it is stated in one place. Names that
 * are nearly known are faults here: the interface keeps unknown fields for other programs.
 */
export function workflowProblems(request: unknown, now: number): WorkflowProblem[] {
  if (!isObject(request)) return [{ path: [], message: 'A workflow must be an object.' }];
  const list = LISTS.find((name) => Array.isArray(request[name]));
  const found = [
    ...misspelt(request, WORKFLOW_NAMES, []),
    ...(list === undefined ? [] : ofParts(request, list, now)),
    ...ofCallbacks(request['callbacks'], now),
  ];
  // What no part has by itself, such as nodes that wait for each other.
  const whole = found.length > 0 ? undefined : refusedBy(() => checkWorkflow(request));
  return whole ? [{ path: [], message: whole.message }] : found.slice(0, MOST);
}

function ofParts(request: JsonObject, list: (typeof LISTS)[number], now: number): WorkflowProblem[] {
  const items = request[list] as Json[];
  if (items.length === 0) return [{ path: [list], message: `'${list}' must have at least one item.` }];
  const isGraph = list === 'nodes' || (list === 'steps' && items.some((one) => isObject(one) && 'id' in one));
  const callbacks = isObject(request['callbacks']) ? { callbacks: { on_complete: SOUND } } : {};
  // What stands beside the list: the list itself is taken for sound.
  const sound = { ...request, ...callbacks, [list]: [isGraph ? { id: 'a', ...SOUND } : SOUND] };
  const parts = isGraph ? ofGraph(items, list, now) : items.flatMap((one, at) => ofStep(one, [list, at], now));
  return [...eliminated(sound, checkWorkflow, []), ...parts];
}

function ofGraph(items: readonly Json[], list: string, now: number): WorkflowProblem[] {
  const names = items.map((item) => (isObject(item) && typeof item['id'] === 'string' ? item['id'] : undefined));
  /** From each name to the first node that has it. */
  const known = new Map<string, number>();
  for (const [index, name] of names.entries()) if (name !== undefined && !known.has(name)) known.set(name, index);
  const standIns = { id: 'a', depends_on: [...known.keys()].slice(0, MAX_PARENTS) };
  return items.flatMap((item, index): WorkflowProblem[] => {
    const path = [list, index];
    if (!isObject(item)) return [{ path, message: `'${list}[${index}]' must be an object.` }];
    const { id: _, depends_on: __, job, ...flat } = item;
    const isFlat = !isObject(job);
    const request = isFlat ? without(flat, RULE_NAMES) : job;
    return [
      ...misspelt(item, isFlat ? [...NODE_NAMES, ...JOB_NAMES] : NODE_NAMES, path),
      ...(isFlat ? [] : misspelt(request, JOB_NAMES, [...path, 'job'])),
      ...eliminated(item, (node) => readNode(node, ''), path, standIns),
      ...ofLinks(item, index, known, path),
      // What waits for a signal has no job.
      ...(waitsForSignal(item) ? [] : ofJob(request, isFlat ? path : [...path, 'job'], now)),
    ];
  });
}

const waitsForSignal = ({ signal }: JsonObject): boolean => signal !== undefined && signal !== null && signal !== false;

function ofLinks(item: JsonObject, index: number, known: ReadonlyMap<string, number>, path: Path): WorkflowProblem[] {
  const { id, depends_on: parents } = item;
  const repeats = typeof id === 'string' && known.get(id) !== index;
  // To look for what was meant among thousands would take long.
  const near = known.size <= MOST_NAMES ? [...known.keys()] : [];
  const strangers = (Array.isArray(parents) ? parents : []).flatMap((parent, at): WorkflowProblem[] => {
    if (typeof parent !== 'string' || known.has(parent)) return [];
    return [{ path: [...path, 'depends_on', at], message: `'${parent}' is no node here.${didYouMean(parent, near)}` }];
  });
  const repeated = { path: [...path, 'id'], message: `'${id}' is the name of an earlier node.` };
  return [...(repeats ? [repeated] : []), ...strangers];
}

/** A job of a chain or a group, or a chain or group inside of it. */
function ofStep(item: Json, path: Path, now: number): WorkflowProblem[] {
  if (!isObject(item)) return [{ path, message: 'A step must be a job or a workflow.' }];
  const inner = item['type'] === 'chain' ? 'steps' : item['type'] === 'group' ? 'jobs' : undefined;
  const items = inner === undefined ? undefined : item[inner];
  if (inner !== undefined && Array.isArray(items))
    return items.flatMap((one, at) => ofStep(one, [...path, inner, at], now));
  const ruled = RULE_NAMES.filter((name) => name in item).map((name) => ({
    path: [...path, name],
    message: `'${name}' is for nodes of a graph: send 'nodes' with 'id' and 'depends_on'.`,
  }));
  return [...ruled, ...misspelt(item, JOB_NAMES, path), ...ofJob(without(item, RULE_NAMES), path, now)];
}

function ofCallbacks(callbacks: Json | undefined, now: number): WorkflowProblem[] {
  if (!isObject(callbacks)) return [];
  return Object.entries(callbacks).flatMap(([name, request]) => {
    const path = ['callbacks', name];
    const isKnown = (CALLBACKS as readonly string[]).includes(name);
    if (!isKnown) return [{ path, message: `'${name}' is none of ${CALLBACKS.join(', ')}.` }];
    return isObject(request) ? ofJob(request, path, now) : [{ path, message: `'${name}' must be a job.` }];
  });
}

const ofJob = (request: JsonObject, path: Path, now: number): WorkflowProblem[] =>
  eliminated(request, (job) => checkPlain(job, now), path);

/**
 * Asks again without each field that was refused, until there is nothing left to refuse or to leave out. What must be there is
 * replaced by something sound.
 */
function eliminated(
  part: JsonObject,
  check: (part: JsonObject) => unknown,
  path: Path,
  standIns: JsonObject = SOUND,
): WorkflowProblem[] {
  const problems: WorkflowProblem[] = [];
  let rest = part;
  while (problems.length < MOST_OF_ONE) {
    const refusal = refusedBy(() => check(rest));
    if (refusal === undefined) break;
    const field = refusal.details?.['field'];
    const place = placeIn(rest, stepsIn(typeof field === 'string' ? field : ''));
    // Rules of a node name their fields below the node, which has no name here.
    problems.push({ path: [...path, ...place], message: refusal.message.replace(/^'\./, "'") });
    const next = withoutFault(rest, place, standIns);
    if (next === undefined) break;
    rest = next;
  }
  return problems;
}

function withoutFault(part: JsonObject, [first, second]: Path, standIns: JsonObject): JsonObject | undefined {
  if (typeof first !== 'string') return undefined;
  const own = part[first];
  if (first in standIns) return own === standIns[first] ? undefined : { ...part, [first]: standIns[first]! };
  if (own === undefined) return undefined;
  // Of options only the one is taken away.
  if (first === 'options' && isObject(own) && typeof second === 'string' && second in own)
    return { ...part, options: without(own, [second]) };
  return without(part, [first]);
}

/** `when.all[0]` as steps. */
const stepsIn = (field: string): (string | number)[] =>
  [...field.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, name, index]) => (index === undefined ? name! : Number(index)));

/** Options may stand beside the type: then that is where they are. As far as the part goes. */
function placeIn(part: JsonObject, steps: (string | number)[]): (string | number)[] {
  const [top, option] = steps;
  const inOptions = isObject(part['options']) && typeof option === 'string' && option in part['options'];
  return top === 'options' && !inOptions && steps.length > 1 ? steps.slice(1) : steps;
}

function misspelt(part: JsonObject, known: readonly string[], path: Path): WorkflowProblem[] {
  return Object.keys(part).flatMap((name): WorkflowProblem[] => {
    if (known.includes(name)) return [];
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const meant = closest(snake, known);
    if (meant === undefined && path.length > 0) return [];
    const proposal = meant === undefined ? '' : ` Did you mean '${meant}'?`;
    return [{ path: [...path, name], message: `'${name}' is not known here.${proposal}` }];
  });
}

const without = (part: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(part).filter(([name]) => !names.includes(name)));

function refusedBy(check: () => unknown): WaybillError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof WaybillError) return error;
    throw error;
  }
}
