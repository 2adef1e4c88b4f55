import {
  checkNames,
  type Job,
  LIMIT_NAMES,
  type LimitOptions,
  type RetryOptions,
  UNIQUE_NAMES,
  type UniqueOptions,
  WaybillError,
} from '@waybill/core';
import type { TaskContext } from './context.ts';
import { checkPolicyValues, checkSchema } from './policy-values.ts';
import type { InputOf, OutputOf, StandardSchemaV1 } from './standard-schema.ts';
import { checkPolicy } from './task-defaults.ts';

/** What every job of a task is enqueued with, unless the call says otherwise. */
export interface TaskPolicy<Input = unknown> {
  /** @defaultValue 'default' */
  queue?: string;
  /** Higher first, -100 to 100. @defaultValue 0 */
  priority?: number;
  /** Whatever it leaves out is as the connection says. @defaultValue 3 attempts, then a dead letter */
  retry?: RetryOptions;
  /** Milliseconds that a job is kept as a dead letter, should it become one. @defaultValue as the connection says, else 90 days */
  deadLetterMs?: number;
  /** Milliseconds that one run may take. Counted from the claim. @defaultValue no limit */
  timeout?: number;
  unique?: UniqueOptions | ((input: Input) => UniqueOptions);
  limit?: LimitOptions | ((input: Input) => LimitOptions);
}

export interface TaskOptions<Input, Output, Result> extends TaskPolicy<Input> {
  /** Name of the runner that runs it, see docs/worker.md. @defaultValue 'in-process' */
  runner?: string;
  run(input: Output, context: TaskContext): Result | Promise<Result>;
}

/** The runner of a task that names none. */
export const IN_PROCESS = 'in-process';

declare const TYPES: unique symbol;

/** A typed job definition. `Input` is what callers hand in, `Output` what the schema makes of it for the handler. */
export interface Task<Input = unknown, Output = unknown, Result = unknown> {
  readonly name: string;
  readonly schema: StandardSchemaV1 | undefined;
  readonly policy: TaskPolicy;
  /** Name of the runner that a worker must have to run it. */
  readonly runner: string;
  run(input: Output, context: TaskContext): Result | Promise<Result>;
  /** Only for the compiler. */
  readonly [TYPES]?: { input: Input; result: Result };
}

export type AnyTask = Task;
export type TaskInput<T> = T extends Task<infer Input, infer _Output, infer _Result> ? Input : never;
export type TaskResult<T> = T extends Task<infer _Input, infer _Output, infer Result> ? Result : never;

const POLICY: Readonly<Record<keyof TaskPolicy, true>> = {
  ...{ queue: true, priority: true, retry: true, deadLetterMs: true, timeout: true, unique: true, limit: true },
};
/** Every name of a task's policy. */
export const POLICY_NAMES: readonly string[] = Object.keys(POLICY);
const NAMES: readonly string[] = ['input', 'run', 'runner', ...POLICY_NAMES];

/** A rule that is a function of the input is checked by what it answers. */
export function checkRules(owner: string, unique: TaskPolicy['unique'], limit: TaskPolicy['limit']): void {
  if (unique !== undefined && typeof unique !== 'function') checkNames(`${owner}: 'unique'`, unique, UNIQUE_NAMES);
  if (limit !== undefined && typeof limit !== 'function') checkNames(`${owner}: 'limit'`, limit, LIMIT_NAMES);
}

const NAME = /^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$/;

/** Defines a task. With a schema the input is checked when it is enqueued and again before it is run. */
export function task<Schema extends StandardSchemaV1, Result>(
  name: string,
  options: { input: Schema } & TaskOptions<InputOf<Schema>, OutputOf<Schema>, Result>,
): Task<InputOf<Schema>, OutputOf<Schema>, Result>;
export function task<Input = undefined, Result = unknown>(
  name: string,
  options: { input?: undefined } & TaskOptions<Input, Input, Result>,
): Task<Input, Input, Result>;
export function task(
  name: string,
  options: { input?: StandardSchemaV1 | undefined } & TaskOptions<unknown, unknown, unknown>,
): Task {
  if (typeof name !== 'string' || !NAME.test(name)) {
    const message = `Invalid task name '${name}'. Use lower-case words joined by dots, such as email.send.`;
    throw new WaybillError('invalid_request', message);
  }
  if (typeof options !== 'object' || options === null) throw new WaybillError('invalid_request', noRun(name));
  const { input: schema, run, runner = IN_PROCESS, ...policy } = options;
  if (typeof run !== 'function') throw new WaybillError('invalid_request', noRun(name));
  checkNames(`Task '${name}'`, options, NAMES);
  checkPolicy(`Task '${name}'`, policy);
  checkPolicyValues(`Task '${name}'`, policy);
  checkSchema(`Task '${name}'`, schema);
  checkRules(`Task '${name}'`, policy.unique, policy.limit);
  return { name, schema, policy, runner, run };
}

const noRun = (name: string): string =>
  `Task '${name}' has no 'run' function. Define it as task('${name}', { run: async (input) => { .. } }).`;

/** Without a compiler, a name is easily taken for the task itself. */
export function checkTask(given: AnyTask): void {
  const task: Partial<AnyTask> | null | undefined = given;
  if (typeof task?.run === 'function' && typeof task.name === 'string' && task.policy !== undefined) return;
  const found = typeof given === 'string' ? `the text '${given}'` : given === null ? 'null' : typeof given;
  throw new WaybillError('invalid_request', `A task is needed, and this is ${found}.`, {
    hint: "Give what task('email.send', { run }) has answered. For a job of another program's task: jobs.enqueue({ type, args }).",
  });
}

/** A task that was made by an older version of this package names none. */
export const runnerOf = ({ runner }: Pick<AnyTask, 'runner'>): string => (runner as string | undefined) ?? IN_PROCESS;

/** A task's input travels as the only argument. Jobs of foreign producers may have several: those arrive as a list. */
export const inputOf = ({ spec: { args } }: Job): unknown => (args.length > 1 ? args : args[0]);
