/** Why an agent run came to no result. */
export type AgentErrorCode =
  /** Tokens or cost are used up. */
  | 'budget_exceeded'
  /** As many answers as allowed, and no end. */
  | 'max_turns'
  /** The agent has not ended within the timeout of the step. */
  | 'agent_timeout'
  /** The model, or the CLI, has said nothing for too long. */
  | 'agent_stalled'
  /** No structured output, or none that its schema accepts. */
  | 'output_invalid'
  /** The Messages API refused, or could not be reached. */
  | 'api_error'
  /** There is no key for the Messages API. */
  | 'api_key_missing'
  /** The agent cannot have a tool that its task names. */
  | 'tool_missing'
  /** The CLI ended without a result. */
  | 'agent_process_failed'
  /** A hook of the user ended the agent before it was done. */
  | 'hook_stopped'
  /** A repository could not be reached, or has no such commit. */
  | 'repo_failed'
  /** The changes of the agent do not pass a feedback command. */
  | 'feedback_failed'
  /** The agent ended in a way that is none of these. */
  | 'agent_failed';

export interface AgentErrorOptions {
  retryable: boolean;
  details?: Readonly<Record<string, string | number | boolean | null>>;
  /** HTTP status of the Messages API. */
  status?: number;
  /** How long the Messages API asks to wait. */
  retryAfterMs?: number;
  cause?: unknown;
}

/** A failure of an agent. Its code, `retryable` and details go into the job's error. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
  readonly code: AgentErrorCode;
  readonly retryable: boolean;
  readonly details: NonNullable<AgentErrorOptions['details']>;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: AgentErrorCode, message: string, options: AgentErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable;
    this.details = { ...options.details };
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}
