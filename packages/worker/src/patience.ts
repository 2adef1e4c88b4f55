import { type Clock, ERROR_CODES, type ErrorCode, WaybillError } from '@waybill/core';

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/** Doubles per failure and spreads by half either way, so that workers do not come back all at once. */
export const backoffMs = (failures: number): number =>
  Math.min(FIRST_MS * 2 ** Math.max(0, failures - 1), LONGEST_MS) * (0.5 + Math.random());

/** The code of a refusal. By its fields, since the remote client has an error class of its own. */
export function codeOf(error: unknown): ErrorCode | undefined {
  if (!(error instanceof Error) || error.name !== 'WaybillError' || !('code' in error)) return undefined;
  return ERROR_CODES.find((code) => code === error.code);
}

const REPEATABLE: ReadonlySet<ErrorCode | undefined> = new Set([
  ...(['rate_limited', 'resource_exhausted', 'unavailable', 'timeout', 'internal'] as const),
  // What we do not know is taken for a broken connection.
  undefined,
]);

/** Whether the same call may succeed later. */
export const mayRepeat = (error: unknown): boolean => REPEATABLE.has(codeOf(error));

/** Given as a reason: without one, each abort makes an exception with a stack that nobody looks at. */
const OVER = 'over';

/**
 * A connection that died without a word must not hold up the worker: after `ms`, or when somebody gives up, the call
 * counts as failed.
 */
export async function within<T>(ms: number, clock: Clock, call: Promise<T>, giveUp?: AbortSignal): Promise<T> {
  const over = new AbortController();
  const signal = giveUp ? AbortSignal.any([over.signal, giveUp]) : over.signal;
  const late = clock.sleep(ms, signal).then(() => {
    if (over.signal.aborted) return new Promise<never>(() => {});
    throw new WaybillError('timeout', giveUp?.aborted ? 'Nobody waits any longer.' : `No answer came within ${ms} ms.`);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    over.abort(OVER);
  }
}

/** Wakes whoever waits that something has changed. */
export class Bell {
  #waiting: (() => void)[] = [];

  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  ring(): void {
    if (this.#waiting.length === 0) return;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
