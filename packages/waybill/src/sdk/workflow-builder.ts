import {
  type Condition,
  checkNames,
  type IfSkipped,
  invalidField,
  isObject,
  type Json,
  type Transaction,
} from '@waybill/core';
import {
  type AnyTask,
  checkGiven,
  ENQUEUE_OPTIONS,
  isSignal,
  PARENT_NAMES,
  type ParentResult,
  type Signal,
  type Task,
  type TaskInput,
  type TaskResult,
} from '@waybill/worker';
import { TaskJob, type TaskJobOptions } from './task-job.ts';
import type { GraphNode, WorkflowRequest } from './workflow-request.ts';

declare const RESULT: unique symbol;

/** A node of a workflow that is being built. The compiler knows what it will come to. */
export interface WorkflowNodeOf<Result = unknown> {
  /** Its name in the workflow. */
  readonly id: string;
  readonly [RESULT]?: Result;
}

type ParentsOf<T> = T extends Task<infer _Input, infer _Output, infer _Result, infer Parents> ? Parents : never;

type Named = Readonly<Record<string, WorkflowNodeOf>>;

/** The nodes that a task with declared parents waits for, by their names there; others may stand beside them. */
type AfterOf<T> = [keyof ParentsOf<T>] extends [never]
  ? { after?: Named | readonly WorkflowNodeOf[] }
  : { after: { readonly [Name in keyof ParentsOf<T>]: WorkflowNodeOf<ParentResult<ParentsOf<T>[Name]>> } & Named };

interface Rules {
  /** Its name in the workflow. @defaultValue the name of the task, with a number from the second one on */
  id?: string;
  /** It is skipped unless this holds; parents have the names that `after` gives them. */
  when?: Condition;
  /** Milliseconds after the last of its parents has ended. */
  delay?: number;
  /** @defaultValue it runs if at least one parent has completed */
  ifSkipped?: IfSkipped;
}

/** How long a node waits for what comes from outside. */
export interface GateOptions {
  /** Milliseconds from when it begins to wait. Nothing has come by then: the node fails. @defaultValue no limit */
  timeoutMs?: number;
}

export type NodeOptions<T = AnyTask> = Rules &
  AfterOf<T> &
  Omit<TaskJobOptions, 'delay'> & {
    /** What stands behind it waits until it is approved. @defaultValue false */
    review?: boolean | GateOptions;
  };

export interface SignalOptions extends Pick<Rules, 'when' | 'ifSkipped'>, GateOptions {
  after?: Named | readonly WorkflowNodeOf[];
}

export interface MapOptions extends Rules, Omit<TaskJobOptions, 'delay'> {
  /** Where the list is in what the parent returns, such as `report.pages`. @defaultValue it is all of it */
  path?: string;
  /** More items fail the node. @defaultValue 10_000 */
  maxItems?: number;
  /** How many of its jobs may run at once. @defaultValue no limit */
  concurrency?: number;
  after?: Named | readonly WorkflowNodeOf[];
}

/** A task without input and parents needs neither in the call. */
type RunGiven<T> = [keyof ParentsOf<T>] extends [never]
  ? [TaskInput<T>] extends [undefined]
    ? [input?: undefined, options?: NodeOptions<T>]
    : [input: TaskInput<T>, options?: NodeOptions<T>]
  : [input: TaskInput<T>, options: NodeOptions<T>];

export interface WorkflowBuilder {
  /** A node that runs a job of the task. */
  run<T extends AnyTask>(task: T, ...given: RunGiven<T>): WorkflowNodeOf<TaskResult<T>>;
  /** A node that runs a job of the task for each item of the list that another node returns; it comes to their results. */
  map<T extends AnyTask>(
    task: T,
    over: WorkflowNodeOf<readonly TaskInput<T>[]>,
    options?: MapOptions & { path?: undefined },
  ): WorkflowNodeOf<TaskResult<T>[]>;
  map<T extends AnyTask>(
    task: T,
    over: WorkflowNodeOf,
    options: MapOptions & { path: string },
  ): WorkflowNodeOf<TaskResult<T>[]>;
  /** A node that waits for `workflows.signal`. It has the name of the signal, and comes to its data. */
  signal<Data>(signal: Signal<Data>, options?: SignalOptions): WorkflowNodeOf<Data>;
  signal(name: string, options?: SignalOptions): WorkflowNodeOf<Json>;
}

export interface BuildOptions {
  name?: string;
  /** @defaultValue 'continue': what does not depend on a failed node goes on */
  failurePolicy?: 'stop' | 'continue';
  /** How long the whole may take, in milliseconds. @defaultValue no limit */
  timeoutMs?: number;
  onSuccess?: TaskJob;
  onFailure?: TaskJob;
  onComplete?: TaskJob;
  tenant?: string;
  within?: Transaction;
}

const BUILD_OPTIONS = ['name', 'failurePolicy', 'timeoutMs', 'onSuccess', 'onFailure', 'onComplete'];
const RULES = ['id', 'after', 'when', 'delay', 'ifSkipped'] as const;
const OF_A_MAP = ['path', 'maxItems', 'concurrency'] as const;
const GATE = ['timeoutMs'];
const SIGNAL_NAMES = ['after', 'when', 'ifSkipped', ...GATE];
const RUN_NAMES = [...RULES, 'review', ...ENQUEUE_OPTIONS];
const MAP_NAMES = [...RULES, ...OF_A_MAP, ...ENQUEUE_OPTIONS];

type Given = Rules & { after?: Named | readonly WorkflowNodeOf[] } & Record<string, unknown>;

/** The request for `workflows.create`, which checks the inputs of its tasks. */
export function builtWorkflow(build: (w: WorkflowBuilder) => unknown, options: BuildOptions): WorkflowRequest {
  checkNames('workflow()', options, [...BUILD_OPTIONS, 'tenant', 'within']);
  if (typeof build !== 'function') throw invalidField('build', 'must be a function: (w) => { w.run(task, input); }.');
  const nodes = new Nodes();
  const answer: unknown = build({ run: nodes.run, map: nodes.map, signal: nodes.signal } as WorkflowBuilder);
  if (answer instanceof Promise)
    throw invalidField('build', 'must not be asynchronous: prepare inputs before the call.');
  const { name, failurePolicy, timeoutMs, onSuccess, onFailure, onComplete } = options;
  const callbacks = {
    ...(onSuccess !== undefined && { on_success: onSuccess }),
    ...(onFailure !== undefined && { on_failure: onFailure }),
    ...(onComplete !== undefined && { on_complete: onComplete }),
  };
  return {
    nodes: nodes.all,
    ...(name !== undefined && { name }),
    ...(failurePolicy !== undefined && { failure_policy: failurePolicy }),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(Object.keys(callbacks).length > 0 && { callbacks }),
  };
}

class Nodes {
  readonly all: GraphNode[] = [];
  readonly #ids = new Set<string>();
  readonly #mine = new WeakSet<object>();

  readonly run = (task: AnyTask, input: unknown, options: Given = {}): WorkflowNodeOf => {
    checkNames('run()', options, RUN_NAMES);
    const { review, ...others } = options as Given & { review?: boolean | GateOptions };
    const { place, rest } = this.#placed(task, others as Given);
    checkGiven(task, namesIn(options.after), `The node '${place.id}'`);
    const gate = review !== undefined && { review: gateOf(review, `'review' of the node '${place.id}'`) };
    this.all.push({ ...place, ...gate, job: new TaskJob(task, input, rest) });
    return this.#handle(place.id);
  };

  readonly signal = (signal: Signal | string, options: SignalOptions = {}): WorkflowNodeOf => {
    checkNames('signal()', options, SIGNAL_NAMES);
    const { timeoutMs, ...others } = options;
    const id = isSignal(signal) ? signal.name : signal;
    const { place } = this.#placed(undefined, { ...others, id } as Given);
    this.all.push({ ...place, signal: timeoutMs === undefined ? true : { timeout_ms: timeoutMs } });
    return this.#handle(id);
  };

  readonly map = (task: AnyTask, over: WorkflowNodeOf, options: Given = {}): WorkflowNodeOf => {
    checkNames('map()', options, MAP_NAMES);
    const { path, maxItems, concurrency, ...others } = options;
    const { place, rest } = this.#placed(task, others as Given, over);
    const map = {
      over: { parent: this.#idOf(over, 'over'), ...(path !== undefined && { path: path as string }) },
      ...(maxItems !== undefined && { limit: maxItems as number }),
      ...(concurrency !== undefined && { concurrency: concurrency as number }),
    };
    this.all.push({ ...place, map, job: new TaskJob(task, undefined, rest, true) });
    return this.#handle(place.id);
  };

  #placed(
    task: AnyTask | undefined,
    { id: asked, after, when, delay, ifSkipped, ...options }: Given,
    over?: WorkflowNodeOf,
  ) {
    const id = asked ?? this.#freeId(task?.name);
    this.#ids.add(id);
    const parents = this.#parentsIn(after, id);
    const dependsOn = [...new Set([...Object.values(parents), ...(over ? [this.#idOf(over, 'over')] : [])])];
    const names = namesIn(after);
    const place = {
      id,
      ...(dependsOn.length > 0 && { depends_on: dependsOn }),
      ...(when !== undefined && { when: translated(when, parents) }),
      ...(delay !== undefined && { delay_ms: delay }),
      ...(ifSkipped !== undefined && { if_skipped: ifSkipped }),
    };
    const twin = names.find((name) => names.some((other) => other !== name && parents[other] === parents[name]));
    if (twin !== undefined)
      throw invalidField(`after.${twin}`, `of '${id}' is a node that has another name there too.`);
    // The jobs of a map get their items, and nothing of its parents.
    const isNamed = names.length > 0 && over === undefined;
    const meta = { ...(isObject(options['meta']) && options['meta']), ...(isNamed && { [PARENT_NAMES]: names }) };
    const rest = { ...options, ...(Object.keys(meta).length > 0 && { meta }) } as TaskJobOptions;
    return { place, rest };
  }

  #parentsIn(after: Given['after'], id: string): Record<string, string> {
    if (after === undefined) return {};
    const entries = Array.isArray(after) ? after.map((node) => [node?.id, node] as const) : Object.entries(after);
    return Object.fromEntries(entries.map(([name, node]) => [name, this.#idOf(node, `after of '${id}'`)]));
  }

  #idOf(node: unknown, field: string): string {
    if (isObject(node) && this.#mine.has(node)) return node['id'] as string;
    throw invalidField(field, 'must be what run(), map() or signal() of this workflow has answered.');
  }

  #freeId(name: unknown): string {
    const base = String(name);
    for (let number = 1; ; number += 1) {
      const id = number === 1 ? base : `${base}-${number}`;
      if (!this.#ids.has(id)) return id;
    }
  }

  #handle(id: string): WorkflowNodeOf {
    const node = Object.freeze({ id });
    this.#mine.add(node);
    return node;
  }
}

function gateOf(asked: boolean | GateOptions, owner: string): boolean | { timeout_ms?: number } {
  if (typeof asked === 'boolean') return asked;
  checkNames(owner, asked, GATE);
  const { timeoutMs } = asked;
  return timeoutMs === undefined ? {} : { timeout_ms: timeoutMs };
}

const namesIn = (after: Given['after']): string[] =>
  after === undefined || Array.isArray(after) ? [] : Object.keys(after);

/** With the names of nodes in place of those that `after` gives them. What it names beside is the engine's to refuse. */
function translated(condition: Condition, parents: Readonly<Record<string, string>>): Condition {
  if (!isObject(condition)) return condition;
  if ('all' in condition && Array.isArray(condition.all))
    return { ...condition, all: condition.all.map((one) => translated(one, parents)) };
  if ('any' in condition && Array.isArray(condition.any))
    return { ...condition, any: condition.any.map((one) => translated(one, parents)) };
  if ('not' in condition) return { ...condition, not: translated(condition.not, parents) };
  if (!('parent' in condition)) return condition;
  return {
    ...condition,
    parent: Object.hasOwn(parents, condition.parent) ? parents[condition.parent]! : condition.parent,
  };
}
