// What users define their agents with.

export type {
  AgentContext,
  AgentDefinition,
  McpServers,
} from './agent-definition.ts';
export { AgentError, type AgentErrorCode } from './agent-error.ts';
export type { AgentResult } from './agent-result.ts';
export { type AgentTaskOptions, agentTask, type OutputValue } from './agent-task.ts';
export { agentLine } from './by-hand/entry-line.ts';
export { type ByHandOptions, runByHand } from './by-hand/run-by-hand.ts';
export type { JsonSchema, OutputSchema, SchemaPair } from './output/output-contract.ts';
export type { AskHumanOptions, PeopleDefinition } from './people/people-options.ts';
export type { FeedbackResult } from './repo/feedback.ts';
export type { FeedbackCommand, FeedbackOptions, RepoDefinition } from './repo/repo-definition.ts';
export type { RepoPatch, RepoResult } from './repo/repo-result.ts';
export type { HookAnswer, HookCallback, HookEvent, HookMatcher, PermissionMode, SdkHooks } from './sdk/sdk-types.ts';
export { sanitizeErrorMessage } from './security/error-text.ts';
export { sanitizePromptInput } from './security/prompt-input.ts';
export type { SessionTrace } from './trace/session-trace.ts';
export type { Budget } from './usage/budget.ts';
export type { Price, PriceTable } from './usage/prices.ts';

// What presets are built from.

export { AGENT_VARIABLES } from './query/cli-environment.ts';
export type { AgentExtension, AgentOutside } from './run/outside.ts';
export { runAgent } from './run-agent.ts';
