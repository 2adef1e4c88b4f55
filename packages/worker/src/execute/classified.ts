import { classifyError, classifyOutput, type ErrorInput, isObject } from '@waybill/core';
import { RunFailure } from './failure.ts';

/** The failure, with what its class says of another attempt. A runner that knows better has said so already. */
export function classified(failure: ErrorInput, thrown: unknown): ErrorInput {
  const {
    class: name,
    retryable,
    retryAfterMs,
  } = thrown instanceof RunFailure ? ofProcess(thrown) : classifyError(thrown);
  const details = isObject(failure.details) ? failure.details : {};
  return {
    ...(retryable !== undefined && { retryable }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...failure,
    details: { ...details, class: name },
  };
}

/** A program that ended by itself has left its reason on stderr; one that was ended is told by its outcome. */
function ofProcess({ failure: { code, message, details } }: RunFailure): ReturnType<typeof classifyError> {
  const printed = isObject(details) ? details['last_output'] : undefined;
  if (code === 'nonzero' && typeof printed === 'string') return classifyOutput(printed);
  return classifyError(Object.assign(new Error(message), { name: 'ProcessError' }));
}
