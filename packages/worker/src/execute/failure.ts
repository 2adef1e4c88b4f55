import { type ErrorInput, withoutSecrets } from '@waybill/core';

const MAX_MESSAGE = 2_000;
const MAX_STACK = 4_000;
/** Errors of an AggregateError that are told. */
const MOST_INNER = 3;

/** Thrown by a runner, or by a handler of a preset, that knows more of a failure than an Error says. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure';
  readonly failure: ErrorInput;

  constructor(failure: ErrorInput) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Whether this is an Error. Asking a revoked Proxy that throws, and a handler may throw one. */
export function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error;
  } catch {
    return false;
  }
}

/** What a handler threw, as a bounded fact. Never throws itself, whatever it is given. */
export function failureOf(thrown: unknown): ErrorInput {
  try {
    return thrown instanceof Error ? fromError(thrown) : fromOther(thrown);
  } catch {
    return { code: 'handler_error', type: 'unknown', message: 'The handler threw something that cannot be read.' };
  }
}

function fromError(error: Error & { code?: unknown }): ErrorInput {
  if (error instanceof RunFailure) return { ...error.failure, message: cut(error.message, MAX_MESSAGE) };
  const { cause } = error;
  return {
    code: typeof error.code === 'string' && error.code !== '' ? cut(error.code, 255) : 'handler_error',
    type: cut(kindOf(error), 255),
    message: cut(messageOf(error), MAX_MESSAGE),
    details: {
      ...(typeof error.stack === 'string' && { stack: cut(error.stack, MAX_STACK) }),
      ...(cause instanceof Error && { cause: cut(`${cause.name}: ${cause.message}`, MAX_MESSAGE) }),
    },
  };
}

/** The class says more than `name`, which many subclasses leave at 'Error'. Code of the user's own may have changed both. */
export const kindOf = (error: Error): string =>
  String(error.name === 'Error' ? (error.constructor?.name ?? error.name) : error.name);

/** Some errors leave it to others to say what happened: those inside of an AggregateError, or their class alone. */
function messageOf(error: Error): string {
  const message = String(error.message);
  if (message !== '') return message;
  const inner = error instanceof AggregateError ? error.errors.slice(0, MOST_INNER).map(String) : [];
  return inner.length === 0 ? `${error.name} without a message` : inner.join('; ');
}

function fromOther(thrown: unknown): ErrorInput {
  const kind = thrown === null ? 'null' : typeof thrown;
  const text = kind === 'object' ? JSON.stringify(thrown) : String(thrown);
  return {
    code: 'handler_error',
    type: 'non_error',
    message: cut(`The handler threw no Error but ${kind}: ${text}`, MAX_MESSAGE),
  };
}

/** Rows, events and logs are read by more people than may know the secrets of a handler. */
function cut(text: string, max: number): string {
  const shown = withoutSecrets(text.slice(0, max * 2));
  return shown.length <= max ? shown : `${shown.slice(0, max - 1)}…`;
}
