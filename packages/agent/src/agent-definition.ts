import { type Json, WaybillError } from '@waybill/core';
import type { StandardSchemaV1, TaskContext } from '@waybill/worker';
import { type OutputContract, type OutputSchema, outputContract } from './output/output-contract.ts';
import { checkPeople, type PeopleDefinition } from './people/people-options.ts';
import { PromptTemplate } from './prompt/prompt-template.ts';
import { checkRepoDefinition, type RepoDefinition } from './repo/repo-definition.ts';
import { type McpServer, PERMISSION_MODES, type PermissionMode, type SdkHooks } from './sdk/sdk-types.ts';
import { type Budget, checkBudget } from './usage/budget.ts';
import type { PriceTable } from './usage/prices.ts';

/** What a run needs of the context of its task. */
export type AgentContext = Pick<
  TaskContext,
  | ('attempt' | 'checkpoint' | 'emit' | 'files' | 'job' | 'lastCheckpoint' | 'log' | 'parentResults' | 'signal')
  | ('ask' | 'snooze' | 'spend')
>;

/** A function makes new servers for each query: those of `createSdkMcpServer` serve one query only. */
export type McpServers = Readonly<Record<string, McpServer>> | (() => Record<string, McpServer>);

export interface AgentDefinition<Input = unknown, Output = unknown> extends PeopleDefinition, RepoDefinition<Input> {
  /** Lower-case words joined by dots, such as report.summarise. */
  name: string;
  /**
   * A text with placeholders: `{{name}}` and `{{user.tags.0}}` of the input, `{{input}}` for all of it, `{{parentResults}}` and
   * `{{job.id}}`; `{{note?}}` may be missing. Values are sanitized. A function makes the text itself, and passes texts of others
   * through `sanitizePromptInput`.
   */
  prompt: string | ((input: Input, context: AgentContext) => string | Promise<string>);
  /** What stands before all prompts. @defaultValue that of the SDK */
  systemPrompt?: string;
  /** JSON Schema, Standard Schema, or both. Without, the result has the text of the last answer. */
  output?: OutputSchema;
  /** The file with the result, in `.output/{requestId}/artifacts`. @defaultValue 'task-result.json' */
  outputFile?: string;
  /** Tools that the agent is offered and may use without being asked, such as 'Read', 'Bash(git log:*)', 'mcp__crm__find'; [] is none. */
  tools: readonly string[];
  mcpServers?: McpServers;
  /** Answers of the model over all runs of the job. @defaultValue 30 */
  maxTurns?: number;
  /** Milliseconds of one attempt of the step, 1 s to 15 min. @defaultValue DEFAULT_TIMEOUT, else 120_000 */
  timeout?: number;
  /** Milliseconds in which model and CLI may say nothing while no tool runs. @defaultValue 90_000 */
  silence?: number;
  budget?: Budget<Input>;
  /** Prices of models that are not in the table, or other terms. */
  prices?: PriceTable;
  /** @defaultValue CLAUDE_MODEL, else that of the SDK */
  model?: string;
  /** @defaultValue 'acceptEdits', or 'bypassPermissions' where CLAUDE_SKIP_PERMISSIONS is true */
  permissionMode?: PermissionMode;
  /** Hooks of the SDK, beside those of this package. */
  hooks?: SdkHooks;
  /** Variables for the agent and its tools. */
  env?: Readonly<Record<string, string>>;
  /** Names of variables that it gets from the worker, besides the usual ones; `X_*` names all that begin so. */
  inheritEnv?: readonly string[];
  /** Makes the output of the job from that of the model. Nothing keeps it as it is. */
  processOutput?(output: Output, input: Input, context: AgentContext): unknown;
}

/** A definition that has passed all checks. */
export interface CheckedDefinition {
  readonly definition: AgentDefinition;
  readonly contract: OutputContract | null;
  /** Null where the prompt is a function. */
  readonly template: PromptTemplate | null;
}

const SHORTEST_TIMEOUT = 1_000;
const LONGEST_TIMEOUT = 15 * 60_000;

/** Values outside of it become its ends. */
export const clampTimeout = (ms: number): number => Math.min(LONGEST_TIMEOUT, Math.max(SHORTEST_TIMEOUT, ms));

/** Refuses what could not work where it is written. */
export function checkDefinition(definition: AgentDefinition, input?: StandardSchemaV1): CheckedDefinition {
  const { name, prompt, output, outputFile, budget, maxTurns, permissionMode } = definition;
  const owner = `Agent task '${name}'`;
  if (typeof prompt !== 'function' && (typeof prompt !== 'string' || prompt.trim() === ''))
    throw mistake(owner, 'prompt', 'must be a text or a function that answers one');
  if (!Array.isArray(definition.tools) || !definition.tools.every((tool) => typeof tool === 'string' && tool !== ''))
    throw mistake(owner, 'tools', "must be a list of names, such as ['Read', 'Grep']; [] offers none");
  if (maxTurns !== undefined && !(Number.isSafeInteger(maxTurns) && maxTurns > 0))
    throw mistake(owner, 'maxTurns', `must be a whole number above 0, not ${maxTurns}`);
  for (const field of ['timeout', 'silence'] as const) {
    const ms = definition[field];
    if (ms !== undefined && !(Number.isFinite(ms) && ms > 0))
      throw mistake(owner, field, `must be milliseconds above 0, not ${ms}`);
  }
  if (permissionMode !== undefined && !PERMISSION_MODES.includes(permissionMode))
    throw mistake(owner, 'permissionMode', `must be one of ${PERMISSION_MODES.join(', ')}, not '${permissionMode}'`);
  if (outputFile !== undefined && !FILE_NAME.test(outputFile))
    throw mistake(owner, 'outputFile', `must be the name of a file, such as 'report.json', not '${outputFile}'`);
  if (budget !== undefined) checkBudget(budget as Budget, owner);
  checkServers(definition, owner);
  checkRepoDefinition(definition, owner);
  checkPeople(definition, owner);
  const template = typeof prompt === 'string' ? new PromptTemplate(prompt, owner) : null;
  if (template !== null) checkNames(template, input, owner);
  return { definition, contract: output === undefined ? null : outputContract(output, owner), template };
}

const FILE_NAME = /^[\w-][\w.-]{0,60}$/;

const mistake = (owner: string, field: string, problem: string): WaybillError =>
  new WaybillError('invalid_request', `${owner}: '${field}' ${problem}.`, { details: { field } });

/** A server whose tools are not among `tools` would be offered to the model, and each of its calls refused. */
function checkServers({ mcpServers, tools }: AgentDefinition, owner: string): void {
  if (mcpServers === undefined || typeof mcpServers === 'function') return;
  for (const [name, server] of Object.entries(mcpServers)) {
    if ((server as { type?: string } | null)?.type === 'sdk')
      throw mistake(
        owner,
        'mcpServers',
        `must be a function, because server '${name}' runs in this process and serves one query`,
      );
    if (!tools.some((tool) => tool === `mcp__${name}` || tool.startsWith(`mcp__${name}__`)))
      throw mistake(
        owner,
        'tools',
        `names no tool of the MCP server '${name}'. Add 'mcp__${name}' for all of its tools`,
      );
  }
}

/** Values that every prompt may name, besides the fields of its input. */
export const PROMPT_SCOPE = ['input', 'parentResults', 'job'] as const;

interface WritesJsonSchema {
  jsonSchema?: { input?(options: { target: string }): Readonly<Record<string, Json>> };
}

/** Where the schema of the input says which fields there are, a placeholder for another one is told at once. */
function checkNames(template: PromptTemplate, input: StandardSchemaV1 | undefined, owner: string): void {
  const known = fieldsOf(input);
  if (known === null) return;
  const names = [...known, ...PROMPT_SCOPE];
  const unknown = template.names.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw mistake(owner, 'prompt', `has the placeholder '{{${unknown}}}', and the input has only: ${names.join(', ')}`);
}

/** Null where the schema does not say, or allows others. */
function fieldsOf(schema: StandardSchemaV1 | undefined): string[] | null {
  const { jsonSchema } = (schema?.['~standard'] ?? {}) as WritesJsonSchema;
  try {
    const written = jsonSchema?.input?.({ target: 'draft-07' });
    if (written?.['type'] !== 'object' || typeof written['properties'] !== 'object') return null;
    const others = written['additionalProperties'] ?? false;
    return others === false ? Object.keys(written['properties'] ?? {}) : null;
  } catch {
    return null;
  }
}
