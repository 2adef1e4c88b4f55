import type { Logger, Outcome } from '@waybill/core';
import { toJson } from '../jsonified.ts';
import { codeOf } from '../patience.ts';
import type { AnyTask } from '../task.ts';
import { failureOf } from './failure.ts';

/** How a handler ended. */
export type HandlerEnd = { kind: 'returned'; value: unknown } | { kind: 'thrown'; error: unknown };

export interface OutcomeParts {
  logger: Logger;
  maxResultBytes: number;
}

/** The outcome of a run that was not aborted and whose handler did not ask for another one. */
export function outcomeOf(end: HandlerEnd, { logger, maxResultBytes }: OutcomeParts, task: AnyTask): Outcome {
  if (end.kind === 'thrown') {
    if (!(end.error instanceof Error)) logger.warn({ task: task.name }, `Task '${task.name}' threw no Error.`);
    return { kind: 'failed', error: failureOf(end.error) };
  }
  const answer = toJson(end.value);
  if (answer.ok && answer.bytes <= maxResultBytes) return { kind: 'completed', result: answer.value };
  const [code, problem] = answer.ok
    ? ['payload_too_large', `is ${answer.bytes} bytes of JSON, more than ${maxResultBytes}`]
    : ['invalid_result', `is not JSON: ${answer.problem}`];
  const message = `What task '${task.name}' returned ${problem}.`;
  logger.warn({ task: task.name }, message);
  // Its work is done; done again it would only return the same.
  return { kind: 'failed', error: { code, type: code, message, retryable: false } };
}

/** `plain` is what the handler itself came to, where it ended in time. Null: the lease is lost. */
export function outcomeOfAborted(reason: unknown, plain: Outcome | null): Outcome | null {
  switch (codeOf(reason)) {
    case 'timeout':
      return { kind: 'failed', error: { code: 'timeout', type: 'timeout', message: (reason as Error).message } };
    case 'unavailable': {
      if (plain !== null && plain.kind !== 'failed') return plain;
      return { kind: 'requeued', error: { code: 'worker_stopped', message: (reason as Error).message } };
    }
    default:
      return null;
  }
}
