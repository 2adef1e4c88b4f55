import { AgentError, type AgentErrorCode } from '../agent-error.ts';
import type { SdkResult } from '../sdk/sdk-messages.ts';
import type { Redactor } from '../security/redactor.ts';
import type { QueryEnd } from './run-query.ts';

const LONGEST = 1_000;

const KEY_HINT =
  'Set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN in the environment of the worker to a key that is valid.';

/** Statuses after which the same request may succeed. Without a status the API was not reached. */
const isRetryable = (status: number | null): boolean =>
  status === null || status === 408 || status === 409 || status === 429 || status >= 500;

/** Ends of the CLI that no further attempt changes. */
const FINAL: Readonly<Record<string, [AgentErrorCode, string]>> = {
  error_max_turns: ['max_turns', "The agent was not done after the turns it may take. Raise 'maxTurns'."],
  error_max_budget_usd: ['budget_exceeded', "The agent was stopped: its budget is used up. Raise 'budget'."],
  error_max_structured_output_retries: [
    'output_invalid',
    "The model gave no output that the schema of 'output' accepts, although it was asked again.",
  ],
};

/**
 * Why a query came to no good end; null where it did. What we did ourselves explains it best, then the result, then what
 * the SDK threw. What is thrown where the run itself must end is passed on as it is.
 */
export function failureOf(end: QueryEnd, redactor: Redactor): AgentError | null {
  const { cause, result } = end;
  if (cause?.kind === 'aborted') throw cause.reason;
  if (cause?.kind === 'store') throw cause.error;
  if (result !== null && isDone(result)) return null;
  if (cause?.kind === 'failed') return cause.error;
  if (result === null) return processFailure(end, redactor);
  if (isPaused(result)) return paused(result);
  const [code, message] = FINAL[result.subtype] ?? [];
  if (code !== undefined) return new AgentError(code, message!, { retryable: false, details: facts(result) });
  return resultFailure(result, end.refusal, redactor);
}

const isSuccess = ({ subtype, is_error }: SdkResult): boolean => subtype === 'success' && !is_error;

/** A hook has ended the agent before it was done; its session can be resumed. */
export const isPaused = (result: SdkResult): boolean =>
  isSuccess(result) && ['hook_stopped', 'tool_deferred', 'stop_hook_prevented'].includes(result.terminal_reason ?? '');

const isDone = (result: SdkResult): boolean => isSuccess(result) && !isPaused(result);

const paused = (result: SdkResult): AgentError =>
  new AgentError('hook_stopped', 'A hook of the task ended the agent before it was done.', {
    retryable: false,
    details: facts(result),
  });

function resultFailure(result: SdkResult, refusal: string | null, redactor: Redactor): AgentError {
  const said = redactor.text((result.errors ?? []).join('; ') || result.result || 'no reason given', LONGEST);
  const status = result.api_error_status ?? null;
  const isRefused = refusal === 'authentication_failed';
  if (isRefused && status === null)
    return new AgentError('api_key_missing', `Claude Code has no key for the Messages API: ${said}. ${KEY_HINT}`, {
      retryable: false,
      details: facts(result),
    });
  if (result.terminal_reason === 'api_error' || status !== null) {
    const shown = status === null ? 'could not be reached' : `answered with status ${status}`;
    const hint = isRefused ? ` ${KEY_HINT}` : '';
    return new AgentError('api_error', `The Messages API ${shown}: ${said}${hint}`, {
      retryable: isRetryable(status),
      details: { status, ...facts(result) },
      ...(status !== null && { status }),
    });
  }
  return new AgentError('agent_failed', `The agent ended with ${result.terminal_reason ?? result.subtype}: ${said}`, {
    retryable: true,
    details: facts(result),
  });
}

const facts = ({ subtype, terminal_reason, num_turns }: SdkResult): Record<string, string | number> => ({
  subtype,
  ...(terminal_reason !== undefined && { terminal_reason }),
  num_turns,
});

function processFailure({ exit, stderr, thrown }: QueryEnd, redactor: Redactor): AgentError {
  const how =
    exit === null
      ? 'could not be started'
      : exit.signal !== null
        ? `was ended by ${exit.signal}`
        : `exited with code ${exit.code}`;
  const said = redactor.text(stderr || (thrown instanceof Error ? thrown.message : ''), LONGEST);
  return new AgentError('agent_process_failed', `Claude Code ${how} before it gave a result${said && `: ${said}`}`, {
    retryable: true,
    details: { exit_code: exit?.code ?? null, signal: exit?.signal ?? null },
  });
}

/** The CLI does not know the session that it was to resume. */
export const isUnknownSession = ({ result, stderr, thrown }: QueryEnd): boolean =>
  [...(result?.errors ?? []), stderr, String(thrown)].some((text) => text.includes('No conversation found'));
