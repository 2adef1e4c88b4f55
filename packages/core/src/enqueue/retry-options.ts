import type { Fields } from '../check.ts';
import { WaybillError } from '../errors.ts';
import { BACKOFF_STRATEGIES, EXHAUSTION_ACTIONS, type RetryOptions } from '../job/retry-policy.ts';

const MOST_ATTEMPTS = 1_000_000;
const LONGEST_INTERVAL_MS = 366 * 86_400_000;
const MOST_PATTERNS = 100;

/** Checks `options.retry` field by field and gives it back as sent, so that a job shows the policy it was given. */
export function checkRetry(options: Fields): RetryOptions | undefined {
  try {
    const retry = options.fields('retry');
    if (retry === undefined) return undefined;
    retry.integer('max_attempts', { min: 0, max: MOST_ATTEMPTS });
    retry.duration('initial_interval', { max: LONGEST_INTERVAL_MS });
    retry.number('backoff_coefficient', { min: 1, max: 1000 });
    retry.oneOf('backoff_strategy', BACKOFF_STRATEGIES);
    retry.duration('max_interval', { max: LONGEST_INTERVAL_MS });
    retry.boolean('jitter');
    retry.strings('non_retryable_errors', { max: MOST_PATTERNS });
    retry.oneOf('on_exhaustion', EXHAUSTION_ACTIONS);
    return withoutNulls(options.object('retry')!);
  } catch (error) {
    if (!(error instanceof WaybillError)) throw error;
    // The specification has a code of its own for a bad retry policy.
    throw new WaybillError('validation_error', error.message, { details: error.details ?? {} });
  }
}

/** A null means "the default", so it must not override the default when the policy is resolved. */
const withoutNulls = (retry: object): RetryOptions =>
  Object.fromEntries(Object.entries(retry).filter(([, value]) => value !== null));
