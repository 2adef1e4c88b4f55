import type { ErrorInput } from '@waybill/core';

const MAX_MESSAGE = 2_000;
const MAX_STACK = 4_000;

/** What a handler threw, as a bounded fact. Never throws itself, whatever it is given. */
export function failureOf(thrown: unknown): ErrorInput {
  try {
    return thrown instanceof Error ? fromError(thrown) : fromOther(thrown);
  } catch {
    return { code: 'handler_error', type: 'unknown', message: 'The handler threw something that cannot be read.' };
  }
}

function fromError(error: Error & { code?: unknown }): ErrorInput {
  const { cause } = error;
  return {
    code: typeof error.code === 'string' && error.code !== '' ? cut(error.code, 255) : 'handler_error',
    // The class says more than `name`, which many subclasses leave at 'Error'.
    type: cut(error.name === 'Error' ? error.constructor.name : error.name, 255),
    message: cut(String(error.message), MAX_MESSAGE),
    details: {
      ...(typeof error.stack === 'string' && { stack: cut(error.stack, MAX_STACK) }),
      ...(cause instanceof Error && { cause: cut(`${cause.name}: ${cause.message}`, MAX_MESSAGE) }),
    },
  };
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

const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`);
