/** What went wrong, in the ten kinds that a retry policy, a log and an alert tell apart. */
export type ErrorClass =
  | 'programming'
  | 'auth'
  | 'validation'
  | 'parse'
  | 'not_found'
  | 'timeout'
  | 'network'
  | 'rate_limit'
  | 'server_error'
  | 'unknown';

/** What the class was decided by, from the most reliable to the least. */
export type DecidedBy = 'code' | 'status' | 'type' | 'text' | 'none';

export interface ClassifiedError {
  class: ErrorClass;
  /** Undefined: the retry policy of the job decides. */
  retryable: boolean | undefined;
  /** How long the other side asked to wait, from `Retry-After`. At most a day. */
  retryAfterMs?: number;
  by: DecidedBy;
}

/** What one error, or one text, says about itself. */
export interface Verdict {
  class: ErrorClass;
  by: DecidedBy;
}

/** A wrong `false` gives a job up, and a wrong `true` costs one attempt. So what is not understood is undefined. */
const RETRYABLE: Readonly<Record<ErrorClass, boolean | undefined>> = {
  programming: false,
  auth: false,
  validation: false,
  parse: false,
  not_found: false,
  timeout: true,
  network: true,
  rate_limit: true,
  server_error: true,
  unknown: undefined,
};

export const isRetryable = (one: ErrorClass): boolean | undefined => RETRYABLE[one];

/** A delay beside an error that is not retried would only mislead its reader. */
export function classified(verdict: Verdict, retryAfterMs: number | undefined): ClassifiedError {
  const retryable = isRetryable(verdict.class);
  return {
    class: verdict.class,
    retryable,
    ...(retryAfterMs !== undefined && retryable !== false && { retryAfterMs }),
    by: verdict.by,
  };
}

/** The class that a table has for the first of some keys that it knows. */
export function firstIn(table: ReadonlyMap<string, ErrorClass>, keys: readonly string[]): ErrorClass | undefined {
  for (const key of keys) {
    const found = table.get(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A table that is written by class and read by key. */
export const byKey = (classes: Partial<Record<ErrorClass, readonly string[]>>): ReadonlyMap<string, ErrorClass> =>
  new Map(
    Object.entries(classes).flatMap(([name, keys]) =>
      keys.map((key): [string, ErrorClass] => [key, name as ErrorClass]),
    ),
  );
