import { type ErrorInput, isObject, type Json, type JsonObject, type LeaseRevision } from '@waybill/core';
import { kindOf, RunFailure } from '../execute/failure.ts';
import type { CallName } from './child-calls.ts';

/** What the process of a module is told, a line of JSON each. */
export type ToChild =
  /** Load the module, and say `ready`. */
  | { kind: 'load'; module: string; task: string }
  /** Run the handler of the module that was loaded. `isMade`: the input is what the schema of the task has made of it. */
  | { kind: 'run'; input: Json; isMade: boolean; facts: RunFacts }
  | { kind: 'abort'; code: string; message: string }
  /** The answer to the call that has this number. */
  | { kind: 'answer'; id: number; value?: Json; error?: ChannelError };

/** What a handler may know of its run. */
export interface RunFacts {
  job: JsonObject;
  attempt: number;
  maxAttempts: number;
  workerId: string;
  parentResults: Json[];
  revision: LeaseRevision | null;
  lastCheckpoint: JsonObject | null;
  /** Variables that differ from run to run, for a process that was started before its run. */
  env: Record<string, string>;
}

/** What the process of a module says. */
export type FromChild =
  | { kind: 'ready' }
  /** One of the table in child-calls.ts, answered where it has a number. */
  | { kind: 'call'; call: CallName; given: unknown; id?: number }
  | ChildEnd;

/** How the handler ended; the process ends behind it. */
export type ChildEnd =
  | { kind: 'returned'; value: Json }
  /** It returned what is no JSON. */
  | { kind: 'foreign'; problem: string }
  | { kind: 'threw'; error: ChannelError }
  | { kind: 'threw-value'; value: Json }
  | { kind: 'snooze'; ms?: number; until?: number }
  /** The worker has noted already what it waits for. */
  | { kind: 'waiting' }
  | { kind: 'discard' | 'cancel'; reason: string };

/** An Error on its way through the channel. */
export interface ChannelError {
  name: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: { name: string; message: string };
  /** Set by code that knows whether a further attempt can help. */
  retryable?: boolean;
  /** Of a RunFailure. */
  failure?: JsonObject;
}

const ENDS: ReadonlySet<string> = new Set<ChildEnd['kind']>([
  ...(['returned', 'foreign', 'threw', 'threw-value', 'snooze', 'waiting', 'discard', 'cancel'] as const),
]);

export const isEnd = (message: FromChild): message is ChildEnd => ENDS.has(message.kind);

/** Null: the line is no message. Code of the user's own may write to the channel, so nothing in it is believed. */
export function readLine(line: string): FromChild | null {
  try {
    const message: unknown = JSON.parse(line);
    return isObject(message) && typeof message['kind'] === 'string' ? (message as unknown as FromChild) : null;
  } catch {
    return null;
  }
}

export const lineOf = (message: ToChild | FromChild): string => JSON.stringify(message);

export function channelError(error: Error & { code?: unknown; retryable?: unknown; failure?: unknown }): ChannelError {
  const { code, stack, cause, retryable, failure } = error;
  return {
    name: kindOf(error),
    message: String(error.message),
    ...(typeof code === 'string' && { code }),
    ...(typeof stack === 'string' && { stack }),
    ...(cause instanceof Error && { cause: { name: cause.name, message: cause.message } }),
    ...(typeof retryable === 'boolean' && { retryable }),
    // By its name and not by its class: the module may have another copy of this package.
    ...(error.name === 'RunFailure' && isObject(failure as Json) && { failure: failure as JsonObject }),
  };
}

export function errorFrom({ name, message, code, stack, cause, retryable, failure }: ChannelError): Error {
  if (isObject(failure)) return new RunFailure(readFailure(failure, message));
  const error = new Error(
    String(message),
    cause && { cause: Object.assign(new Error(cause.message), { name: cause.name }) },
  );
  error.name = String(name);
  if (typeof stack === 'string') error.stack = stack;
  return Object.assign(error, code !== undefined && { code }, retryable !== undefined && { retryable });
}

/** Its message is bounded where it is settled; of the rest only what has the right form counts. */
function readFailure({ code, type, retryable, retryAfterMs, details }: JsonObject, message: string): ErrorInput {
  return {
    code: typeof code === 'string' && code !== '' ? code : 'handler_error',
    message: String(message),
    ...(typeof type === 'string' && { type }),
    ...(typeof retryable === 'boolean' && { retryable }),
    ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
    ...(details !== undefined && { details }),
  };
}
