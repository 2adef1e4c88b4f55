import { checkNames, WaybillError } from '@waybill/core';
import {
  type IsolateOptions,
  RunFailure,
  type StandardSchemaV1,
  type Task,
  type TaskOptions,
  task,
} from '@waybill/worker';
import { type AgentContext, type AgentDefinition, checkDefinition } from './agent-definition.ts';
import { AgentError } from './agent-error.ts';
import type { AgentResult } from './agent-result.ts';
import type { JsonSchema, OutputSchema, SchemaPair } from './output/output-contract.ts';
import { PEOPLE_NAMES } from './people/people-options.ts';
import { AGENT_VARIABLES } from './query/cli-environment.ts';
import { REPO_NAMES, variablesOfRepo } from './repo/repo-definition.ts';
import type { AgentOutside } from './run/outside.ts';
import { runChecked } from './run-agent.ts';

type TypesOf<Schema extends StandardSchemaV1> = NonNullable<Schema['~standard']['types']>;

/** What the handler is given: what the schema makes of the input. Without a schema it may be anything. */
type InputValue<Schema> = Schema extends StandardSchemaV1 ? TypesOf<Schema>['output'] : unknown;
type GivenInput<Schema> = Schema extends StandardSchemaV1 ? TypesOf<Schema>['input'] : unknown;

/** What the agent answers: by the schema of the output, any JSON object by a JSON Schema, and text without one. */
export type OutputValue<Schema> = Schema extends StandardSchemaV1
  ? TypesOf<Schema>['output']
  : Schema extends SchemaPair
    ? TypesOf<Schema['schema']>['output']
    : Schema extends JsonSchema
      ? Record<string, unknown>
      : string;

type Policy = Pick<
  TaskOptions<unknown, unknown, unknown>,
  'queue' | 'priority' | 'retry' | 'deadLetterMs' | 'unique' | 'limit' | 'journal' | 'outbox' | 'runner'
>;

export interface AgentTaskOptions<
  Input extends StandardSchemaV1 | undefined,
  Output extends OutputSchema | undefined,
  Processed,
> extends Omit<AgentDefinition<InputValue<Input>, OutputValue<Output>>, 'output' | 'processOutput'>,
    Policy {
  /**
   * The module that exports the task: `import.meta.url`. Each run then has a process of its own, with its own home and
   * configuration. @defaultValue the agent is run by the process of the worker, and Claude Code as its child
   */
  module?: string | URL;
  /** Limits and place of that process, see docs/isolation.md. */
  isolate?: Omit<IsolateOptions, 'module' | 'command' | 'env' | 'inheritEnv'>;
  /** Checked when a job is enqueued, and again before it is run. */
  input?: Input;
  output?: Output;
  /**
   * Milliseconds of one run of the job: room for three attempts of `timeout` each. A run that takes longer is not tried again,
   * unless `retry` has a list `non_retryable_errors` of its own. @defaultValue no limit
   */
  runTimeout?: number;
  processOutput?(
    output: OutputValue<Output>,
    input: InputValue<Input>,
    context: AgentContext,
  ): Processed | undefined | Promise<Processed | undefined>;
}

/** Every name that a definition of an agent has, beside those of the task. */
const DEFINITION: Readonly<Record<keyof AgentDefinition, true>> = {
  ...{ name: true, prompt: true, systemPrompt: true, output: true, tools: true, mcpServers: true, maxTurns: true },
  ...{ timeout: true, silence: true, budget: true, prices: true, model: true, permissionMode: true, hooks: true },
  ...{ env: true, inheritEnv: true, processOutput: true, outputFile: true },
  ...REPO_NAMES,
  ...PEOPLE_NAMES,
};
const TASK: readonly string[] = [
  ...['module', 'isolate', 'input', 'runTimeout', 'queue', 'priority', 'retry', 'deadLetterMs', 'unique', 'limit'],
  ...['journal', 'outbox', 'runner'],
];

/**
 * Defines a task whose work a Claude agent does. Needs the package `@anthropic-ai/claude-agent-sdk`, and a key of the Claude
 * API in ANTHROPIC_API_KEY or a token in CLAUDE_CODE_OAUTH_TOKEN.
 */
export function agentTask<
  Input extends StandardSchemaV1 | undefined = undefined,
  Output extends OutputSchema | undefined = undefined,
  Processed = OutputValue<Output>,
>(
  options: AgentTaskOptions<Input, Output, Processed>,
): Task<GivenInput<Input>, InputValue<Input>, AgentResult<Processed>> {
  const owner = `Agent task '${options.name}'`;
  checkNames(owner, options, [...Object.keys(DEFINITION), ...TASK]);
  const given = options as unknown as AgentTaskOptions<StandardSchemaV1 | undefined, OutputSchema, unknown>;
  const { module, isolate, input, runTimeout, queue, priority, retry, deadLetterMs, unique, limit, journal, ...rest } =
    given;
  const { outbox, runner, ...definition } = rest;
  const checked = checkDefinition(definition as AgentDefinition, input);
  if (isolate !== undefined) checkPlace(owner, isolate, module);
  const outside: AgentOutside = module === undefined ? {} : { module };
  const policy = {
    ...{ queue, priority, deadLetterMs, unique, limit, journal, outbox, runner, timeout: runTimeout },
    // A run that its worker has ended for taking too long would only take as long again.
    retry: { non_retryable_errors: ['timeout'], ...retry },
  };
  const { env = {}, inheritEnv = [] } = definition;
  const inherited = [...AGENT_VARIABLES, ...variablesOfRepo(definition), ...inheritEnv];
  const place = module && { ...isolate, module, env, inheritEnv: inherited };
  return task(definition.name, {
    ...(Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined)) as object),
    ...(input !== undefined && { input }),
    ...(place && { isolate: place }),
    // An agent error says itself whether another attempt can help; of all others their class does.
    classifyErrors: true,
    run: (value: unknown, context: AgentContext) =>
      runChecked(checked, value, context, outside).catch((error: unknown) => {
        throw error instanceof AgentError ? asFailure(error) : error;
      }),
  } as unknown as Parameters<typeof task>[1]) as unknown as Task<
    GivenInput<Input>,
    InputValue<Input>,
    AgentResult<Processed>
  >;
}

/** What the agent needs too is said beside 'isolate', and without a module there is no process that could be limited. */
const BESIDE: readonly string[] = ['module', 'env', 'inheritEnv'];

function checkPlace(owner: string, isolate: object, module: string | URL | undefined): void {
  const beside = Object.keys(Object(isolate)).find((name) => BESIDE.includes(name));
  if (beside !== undefined)
    throw misplaced(owner, `isolate.${beside}`, `has no effect. Put '${beside}' beside 'isolate'`);
  if (module === undefined)
    throw misplaced(
      owner,
      'isolate',
      "needs 'module: import.meta.url' beside it, which gives each run its own process",
    );
}

const misplaced = (owner: string, field: string, problem: string): WaybillError =>
  new WaybillError('invalid_request', `${owner}: '${field}' ${problem}.`, { details: { field } });

/** With all that the error knows, which must reach the row from the process of the run too. */
const asFailure = ({ code, name, message, retryable, retryAfterMs, details }: AgentError): RunFailure =>
  new RunFailure({
    ...{ code, type: name, message, retryable, details: { ...details } },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
