import { classifyError } from '@waybill/core';
import { AgentError } from '../agent-error.ts';
import type { SdkResult } from '../sdk/sdk-messages.ts';
import type { AgentSdk, McpServer, SdkHooks } from '../sdk/sdk-types.ts';

/** Whether another attempt can help. Undefined: the policy of the job decides. */
export interface ErrorVerdict {
  class: string;
  retryable: boolean | undefined;
  retryAfterMs?: number;
}

/** What an agent run takes from its surroundings. Everything has a default; tests and presets set some of it. */
export interface AgentOutside {
  /** @defaultValue process.env */
  env?: Readonly<Record<string, string | undefined>>;
  /** Where the agent works. @defaultValue the working directory */
  cwd?: string;
  /** @defaultValue '.output' in `cwd` */
  outputFolder?: string;
  /** Name of the run's folder below that. @defaultValue the id of the job, from the second run on with its number */
  requestId?: string;
  /** Whether the run's folder is removed once its files are kept with the job. @defaultValue DELETE_FILES_AFTER_UPLOAD */
  deleteFiles?: boolean;
  /** Beside which the SDK is looked for, too. */
  module?: string | URL;
  /** @defaultValue the one that is installed */
  sdk?: AgentSdk;
  classify?(error: unknown): ErrorVerdict;
  /** Milliseconds before the second attempt, without jitter; they double. @defaultValue 1_000 */
  retryBaseMs?: number;
  extension?: AgentExtension;
}

/** What adds to every agent, such as tools to ask a person. */
export interface AgentExtension {
  hooks?: SdkHooks;
  /** The hooks of the task as they are used. @defaultValue as they are */
  ofTask?(hooks: SdkHooks | undefined): SdkHooks | undefined;
  /** Called for each query. */
  mcpServers?(sdk: AgentSdk): Record<string, McpServer>;
  tools?: readonly string[];
  /** The first prompt of a run that goes on with a session. @defaultValue that the worker restarted */
  resumePrompt?: string;
  /**
   * A hook has ended a query before the agent was done. May leave the run, as by `context.ask`, or answer the prompt with which
   * this run goes on; null: it has nothing to say.
   */
  paused?(result: SdkResult): Promise<string | null>;
}

/** An error of ours knows; all others are classified as everywhere in Waybill. */
export function defaultVerdict(error: unknown): ErrorVerdict {
  const verdict = classifyError(error);
  if (!(error instanceof AgentError)) return verdict;
  const { retryAfterMs } = error;
  return {
    class: verdict.class === 'unknown' ? error.code : verdict.class,
    retryable: error.retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}
