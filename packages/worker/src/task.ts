import { checkNames, type Job, type Json, LIMIT_NAMES, UNIQUE_NAMES, WaybillError } from '@waybill/core';
import type { TaskContext } from './context.ts';
import { checkIsolate, type IsolateOptions } from './isolate/isolate-options.ts';
import { checkJournal, type JournalPolicy } from './journal/journal-options.ts';
import { checkParents, type NoParents, type ParentTasks } from './parents.ts';
import { checkPolicyValues, checkSchema } from './policy-values.ts';
import type { InputOf, OutputOf, StandardSchemaV1 } from './standard-schema.ts';
import { checkPolicy } from './task-defaults.ts';
import { POLICY_NAMES, type TaskPolicy } from './task-policy.ts';
import type { TypedTask } from './typed-task.ts';

/** What a task says beside its policy and its handler. */
interface TaskPlace extends JournalPolicy {
  /**
   * Whether failures are told apart by what they are: programming mistakes, refused credentials, invalid input and missing things are
   * final, and a Retry-After is kept; see docs/error-classes.md. @defaultValue false: every failure is retried by the policy
   */
  classifyErrors?: boolean;
  /** Name of the runner that runs it, see docs/worker.md. @defaultValue 'in-process', or 'isolated' with `isolate` */
  runner?: string;
}

export interface TaskOptions<Input, Output, Result, Parents = NoParents> extends TaskPolicy<Input>, TaskPlace {
  /** Tasks whose results it is given as `context.parents`, where it is a node of a workflow; see docs/workflows.md. @defaultValue none */
  parents?: Parents & ParentTasks;
  /** Each run has a process of its own, which loads the module that exports this task; see docs/isolation.md. @defaultValue none */
  isolate?: IsolateOptions & { command?: undefined };
  run(input: Output, context: TaskContext<Parents>): Result | Promise<Result>;
}

/** A task whose handler is a program, or the default export of a module. */
export interface IsolatedTaskOptions<Input> extends TaskPolicy<Input>, TaskPlace {
  isolate: IsolateOptions;
  run?: undefined;
}

/** The runner of a task that names none. */
export const IN_PROCESS = 'in-process';
/** The runner of a task that is isolated and names none. */
export const ISOLATED = 'isolated';

/** A typed job definition. `Input` is what callers hand in, `Output` what the schema makes of it for the handler. */
export interface Task<Input = unknown, Output = unknown, Result = unknown, Parents = NoParents>
  extends Readonly<JournalPolicy>,
    TypedTask<Input, Result> {
  readonly schema: StandardSchemaV1 | undefined;
  readonly policy: TaskPolicy;
  /** Name of the runner that a worker must have to run it. */
  readonly runner: string;
  readonly isolate?: IsolateOptions;
  readonly classifyErrors?: boolean;
  readonly parents?: Parents & ParentTasks;
  run(input: Output, context: TaskContext<Parents>): Result | Promise<Result>;
}

export type AnyTask = Task;
const NAMES: readonly string[] = [
  'input',
  'run',
  'runner',
  'isolate',
  'classifyErrors',
  'parents',
  'journal',
  'outbox',
  ...POLICY_NAMES,
];

/** A rule that is a function of the input is checked by what it answers. */
export function checkRules(owner: string, unique: TaskPolicy['unique'], limit: TaskPolicy['limit']): void {
  if (unique !== undefined && typeof unique !== 'function') checkNames(`${owner}: 'unique'`, unique, UNIQUE_NAMES);
  if (limit !== undefined && typeof limit !== 'function') checkNames(`${owner}: 'limit'`, limit, LIMIT_NAMES);
}

const NAME = /^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$/;

/** Defines a task. With a schema the input is checked when it is enqueued and again before it is run. */
export function task<Schema extends StandardSchemaV1, Result, Parents extends ParentTasks = NoParents>(
  name: string,
  options: { input: Schema } & TaskOptions<InputOf<Schema>, OutputOf<Schema>, Result, Parents>,
): Task<InputOf<Schema>, OutputOf<Schema>, Result, Parents>;
export function task<Schema extends StandardSchemaV1, Result = Json>(
  name: string,
  options: { input: Schema } & IsolatedTaskOptions<InputOf<Schema>>,
): Task<InputOf<Schema>, OutputOf<Schema>, Result>;
export function task<Input = unknown, Result = Json>(
  name: string,
  options: { input?: undefined } & IsolatedTaskOptions<Input>,
): Task<Input, Input, Result>;
export function task<Input = undefined, Result = unknown, Parents extends ParentTasks = NoParents>(
  name: string,
  options: { input?: undefined } & TaskOptions<Input, Input, Result, Parents>,
): Task<Input, Input, Result, Parents>;
export function task(
  name: string,
  options: { input?: StandardSchemaV1 | undefined } & (
    | TaskOptions<unknown, unknown, unknown>
    | IsolatedTaskOptions<unknown>
  ),
): Task {
  if (typeof name !== 'string' || !NAME.test(name)) {
    const message = `Invalid task name '${name}'. Use lower-case words joined by dots, such as email.send.`;
    throw new WaybillError('invalid_request', message);
  }
  if (typeof options !== 'object' || options === null) throw new WaybillError('invalid_request', noRun(name));
  const { input: schema, isolate, classifyErrors, journal, outbox, ...given } = options;
  const { parents, ...rest } = given as typeof given & { parents?: ParentTasks };
  if (isolate !== undefined) checkIsolate(`Task '${name}'`, isolate);
  const { run = isolate && onlyIsolated(name), runner = isolate ? ISOLATED : IN_PROCESS, ...policy } = rest;
  if (typeof run !== 'function') throw new WaybillError('invalid_request', noRun(name));
  checkNames(`Task '${name}'`, options, NAMES);
  if (classifyErrors !== undefined && typeof classifyErrors !== 'boolean')
    throw new WaybillError('invalid_request', `Task '${name}': 'classifyErrors' must be true or false.`);
  if (isolate?.command !== undefined && rest.run !== undefined)
    throw new WaybillError(
      'invalid_request',
      `Task '${name}' has both 'run' and 'isolate.command'. Leave one of them out.`,
    );
  checkPolicy(`Task '${name}'`, policy);
  checkPolicyValues(`Task '${name}'`, policy);
  checkSchema(`Task '${name}'`, schema);
  checkRules(`Task '${name}'`, policy.unique, policy.limit);
  checkJournal(`Task '${name}'`, options);
  checkParents(`Task '${name}'`, parents);
  return {
    name,
    schema,
    policy,
    runner,
    run,
    ...(isolate !== undefined && { isolate }),
    ...(classifyErrors !== undefined && { classifyErrors }),
    ...(parents !== undefined && { parents }),
    ...(journal !== undefined && { journal }),
    ...(outbox !== undefined && { outbox }),
  };
}

/** Where a task without a handler is called in the worker's own process, as in a test without the runner. */
const onlyIsolated = (name: string) => (): never => {
  throw new WaybillError('unsupported', `Task '${name}' has no 'run', so it can only run in a process of its own.`, {
    hint: "Run it by a worker that has the runner 'isolated'.",
  });
};

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
