import type { Logger, Outcome } from '@waybill/core';
import { toJson } from '../jsonified.ts';
import { codeOf } from '../patience.ts';
import type { AnyTask } from '../task.ts';
import { classified } from './classified.ts';
import { failureOf, isError } from './failure.ts';

/** How a handler ended. */
export type HandlerEnd = { kind: 'returned'; value: unknown } | { kind: 'thrown'; error: unknown };

/** Thrown by a runner that had to carry the result over as JSON and could not. The run fails as if it were returned. */
export class InvalidResult extends Error {
  override readonly name = 'InvalidResult';

  /** `problem` completes the sentence "The result is not JSON: ..", such as "'rate' is NaN". */
  constructor(problem: string) {
    super(problem);
  }
}

export interface OutcomeParts {
  logger: Logger;
  maxResultBytes: number;
}

/** The outcome of a run that was not aborted and whose handler did not ask for another one. */
export function outcomeOf(end: HandlerEnd, parts: OutcomeParts, task: AnyTask): Outcome {
  const { logger, maxResultBytes } = parts;
  if (end.kind === 'thrown') {
    const hasError = isError(end.error);
    if (hasError && end.error instanceof InvalidResult) return notJson(end.error.message, parts, task);
    if (!hasError) logger.warn({ task: task.name }, `Task '${task.name}' threw no Error.`);
    const error = failureOf(end.error);
    return { kind: 'failed', error: task.classifyErrors ? classified(error, end.error) : error };
  }
  const answer = toJson(end.value);
  if (!answer.ok) return notJson(answer.problem, parts, task);
  if (answer.bytes <= maxResultBytes) return { kind: 'completed', result: answer.value };
  const problem = `is ${answer.bytes} bytes of JSON, more than ${maxResultBytes}`;
  return refusedResult('payload_too_large', problem, parts, task);
}

const notJson = (problem: string, parts: OutcomeParts, task: AnyTask): Outcome =>
  refusedResult('invalid_result', `is not JSON: ${problem}`, parts, task);

/** The handler's work is done; done again it would only return the same. */
function refusedResult(code: string, problem: string, { logger }: OutcomeParts, task: AnyTask): Outcome {
  const message = `What task '${task.name}' returned ${problem}.`;
  logger.warn({ task: task.name }, message);
  return { kind: 'failed', error: { code, type: code, message, retryable: false } };
}

/** `plain` is what the handler itself came to, where it ended in time. Null: the lease is lost. */
export function outcomeOfAborted(reason: unknown, plain: Outcome | null): Outcome | null {
  switch (codeOf(reason)) {
    case 'timeout':
      // A runner that has ended the run for it knows more than that it was late.
      if (plain?.kind === 'failed' && plain.error.code === 'timeout') return plain;
      return { kind: 'failed', error: { code: 'timeout', type: 'timeout', message: (reason as Error).message } };
    case 'unavailable': {
      if (plain !== null && plain.kind !== 'failed') return plain;
      return { kind: 'requeued', error: { code: 'worker_stopped', message: (reason as Error).message } };
    }
    default:
      return null;
  }
}
