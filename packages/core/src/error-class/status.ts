import type { ErrorClass } from './error-class.ts';
import { read, readPath } from './safe-read.ts';

/** Statuses of 4xx that say what is wrong. The others, such as 409, may mean that another attempt helps. */
const STATUSES: ReadonlyMap<number, ErrorClass> = new Map([
  [400, 'validation'],
  [401, 'auth'],
  [403, 'auth'],
  [404, 'not_found'],
  [407, 'auth'],
  [408, 'timeout'],
  [410, 'not_found'],
  [413, 'validation'],
  [415, 'validation'],
  [422, 'validation'],
  [429, 'rate_limit'],
]);

/** 529 is what the Anthropic API answers while it is overloaded. */
export function classOfStatus(status: number): ErrorClass | undefined {
  return STATUSES.get(status) ?? (status >= 500 && status <= 599 ? 'server_error' : undefined);
}

/** The status of an answer, where the error of a client keeps it. A status of an exit code is never in this range. */
export function classOfHttpError(error: unknown): ErrorClass | undefined {
  const statuses = [
    read(error, 'status'),
    read(error, 'statusCode'),
    readPath(error, '$metadata', 'httpStatusCode'),
    readPath(error, 'response', 'status'),
    readPath(error, 'response', 'statusCode'),
  ];
  for (const status of statuses) {
    const found = typeof status === 'number' && Number.isInteger(status) ? classOfStatus(status) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
