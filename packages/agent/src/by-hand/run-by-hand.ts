import { WaybillError } from '@waybill/core';
import { type AnyTask, requestFor, type Task, type TaskContext } from '@waybill/worker';
import { knownSecrets, sanitizeErrorMessage } from '../security/error-text.ts';
import { agentLine } from './entry-line.ts';
import { handContext } from './hand-context.ts';
import { inputByHand } from './input-by-hand.ts';

export interface ByHandOptions {
  /** The input as JSON. @defaultValue the first argument of the process */
  argument?: string;
  /** Where what the agent does is written, a line each. @defaultValue stderr */
  tell?(line: string): void;
}

const INTERRUPTED = 130;

/**
 * Runs an agent task by hand: without a queue, a store or a worker, in this process and in its folder. The input is the first
 * argument, else the file that INPUT_FILE names, else `inputs/input.json`. Writes what the agent does to stderr and the result to
 * stdout as JSON, and answers it. A failure is written, and sets the exit code 1; then there is no answer.
 */
export async function runByHand<Input, Output, Result>(
  task: Task<Input, Output, Result>,
  { argument = process.argv[2], tell = (line) => void process.stderr.write(`${line}\n`) }: ByHandOptions = {},
): Promise<Result | undefined> {
  const interrupted = new AbortController();
  const interrupt = (): void =>
    interrupted.abort(new WaybillError('unavailable', 'The run was interrupted before the agent was done.'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    const input = await inputByHand({ argument, env: process.env, cwd: process.cwd() });
    const context = handContext({
      ...{ type: task.name, signal: interrupted.signal, warn: tell },
      hear: (entry) => {
        const line = agentLine(entry);
        if (line !== null) tell(line);
      },
    });
    const result = await task.run((await checked(task as unknown as AnyTask, input)) as Output, context as TaskContext);
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    return result;
  } catch (error) {
    tell(textOf(error));
    process.exitCode = interrupted.signal.aborted ? INTERRUPTED : 1;
    return undefined;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

/** Refuses what an enqueue would refuse, and answers what the schema makes of it. */
async function checked(task: AnyTask, input: unknown): Promise<unknown> {
  await requestFor(task, input);
  const answer = await task.schema?.['~standard'].validate(input);
  return answer === undefined || answer.issues !== undefined ? input : answer.value;
}

function textOf(error: unknown): string {
  const { message = String(error), hint } = (error ?? {}) as { message?: string; hint?: unknown };
  const text = typeof hint === 'string' ? `${message}\n  ${hint}` : message;
  return sanitizeErrorMessage(text, { secrets: knownSecrets(process.env) });
}
