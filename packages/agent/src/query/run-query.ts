import { AgentError } from '../agent-error.ts';
import { type CliEnd, CliProcess } from '../sdk/cli-process.ts';
import type { SdkMessage, SdkResult } from '../sdk/sdk-messages.ts';
import type { AgentSdk, SdkOptions } from '../sdk/sdk-types.ts';
import { QueryStopper, type StopCause } from './query-stopper.ts';
import { SilenceWatch } from './silence-watch.ts';

export interface QueryParts {
  sdk: AgentSdk;
  prompt: string;
  options: SdkOptions;
  /** Aborted when the run must end. */
  signal: AbortSignal;
  /** Of the attempt that the query belongs to. */
  timeoutMs: number;
  /** What is left of it. */
  remainingMs: number;
  /** How long neither the model nor the CLI may say anything while no tool runs. */
  silenceMs: number;
  isBusy(): boolean;
  /** Hears every message as it comes. Answers why the query must end now, if so. */
  hear(message: SdkMessage): AgentError | null;
  /** Calls back when the transcript cannot be kept. */
  onStoreFailure(callback: (error: unknown) => void): void;
}

/** How long the CLI may take to exit by itself when its query is over; shorter where we have ended the query. */
const EXIT_MS = 5_000;
const EXIT_STOPPED_MS = 500;

/** How a query ended, before it is judged. */
export interface QueryEnd {
  /** The last one that came: a resumed query may give more than one. */
  result: SdkResult | null;
  thrown: unknown;
  cause: StopCause | null;
  exit: CliEnd | null;
  stderr: string;
  /** What the CLI says of a request that failed, such as 'authentication_failed'. */
  refusal: string | null;
}

/** Runs one query of the SDK to its end, and answers when no process of it is left. Throws only where it could not begin. */
export async function runQuery(parts: QueryParts): Promise<QueryEnd> {
  const { sdk, prompt, options, signal, timeoutMs, remainingMs, silenceMs } = parts;
  signal.throwIfAborted();
  const cli = new CliProcess();
  const query = sdk.query({ prompt, options: { ...options, spawnClaudeCodeProcess: cli.spawn } });
  const stopper = new QueryStopper(query, cli);
  const end: QueryEnd = { result: null, thrown: undefined, cause: null, exit: null, stderr: '', refusal: null };

  const abort = (): void => stopper.stop({ kind: 'aborted', reason: signal.reason });
  signal.addEventListener('abort', abort, { once: true });
  parts.onStoreFailure((error) => stopper.stop({ kind: 'store', error }));
  const timer = setTimeout(
    () => stopper.stop({ kind: 'failed', error: timedOut(timeoutMs) }),
    Math.max(1, remainingMs),
  );
  const watch = new SilenceWatch(silenceMs, parts.isBusy, () =>
    stopper.stop({ kind: 'failed', error: stalled(silenceMs) }),
  );
  const listen = async (): Promise<void> => {
    for await (const message of query) {
      watch.heard(message.type === 'system' && 'retry_delay_ms' in message ? message.retry_delay_ms : 0);
      if (message.type === 'result' && 'subtype' in message) end.result = message;
      if (message.type === 'assistant' && 'message' in message) end.refusal = message.error ?? null;
      const failure = parts.hear(message);
      if (failure !== null) stopper.stop({ kind: 'failed', error: failure });
    }
  };
  try {
    await Promise.race([listen(), stopper.gaveUp]);
  } catch (error) {
    end.thrown = error;
  } finally {
    clearTimeout(timer);
    watch.stop();
    stopper.over();
    signal.removeEventListener('abort', abort);
    end.exit = await cli.close(stopper.cause === null ? EXIT_MS : EXIT_STOPPED_MS);
  }
  return { ...end, cause: stopper.cause, stderr: cli.stderr };
}

const seconds = (ms: number): string => `${ms / 1_000} s`;

const timedOut = (ms: number): AgentError =>
  new AgentError('agent_timeout', `The agent did not end within ${seconds(ms)}. Raise 'timeout', at most 15 minutes.`, {
    retryable: true,
    details: { timeout_ms: ms },
  });

const stalled = (ms: number): AgentError =>
  new AgentError('agent_stalled', `The model said nothing for ${seconds(ms)} while no tool was running.`, {
    retryable: true,
    details: { silence_ms: ms },
  });
