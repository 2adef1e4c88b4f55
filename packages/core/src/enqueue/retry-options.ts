import { type Fields, isObject } from '../check.ts';
import { formatDuration } from '../duration.ts';
import { invalidField, WaybillError } from '../errors.ts';
import { BACKOFF_STRATEGIES, EXHAUSTION_ACTIONS, RETRY_NAMES, type RetryOptions } from '../job/retry-policy.ts';

const MOST_ATTEMPTS = 1_000_000;
const LONGEST_INTERVAL_MS = 366 * 86_400_000;
const MOST_PATTERNS = 100;

/**
 * Checks `options.retry` field by field and gives it back as sent, so that a job shows the policy it was given. What came
 * under another name is there under the first one too, which is what the policy goes by.
 */
export function checkRetry(options: Fields): RetryOptions | undefined {
  const retry = options.value('retry');
  if (retry === undefined) return undefined;
  // All jobs of a task have the same policy, and to name it is less work than to check it.
  const name = nameOf(retry);
  const known = name === null ? undefined : checked.get(name);
  if (known !== undefined) return known;
  const policy = Object.freeze(readRetry(options));
  if (name === null) return policy;
  if (checked.size >= MOST_REMEMBERED) checked.clear();
  checked.set(name, policy);
  return policy;
}

/** By their names. Frozen, since many jobs share them. */
const checked = new Map<string, RetryOptions>();
const MOST_REMEMBERED = 100;
const LONGEST_NAME = 1_000;

/** Fields with their types and lengths, so that no two policies have the same. Null: it has lists, or is none. */
function nameOf(retry: unknown): string | null {
  // An empty list has as many fields as an empty policy.
  if (!isObject(retry)) return null;
  let name = '';
  for (const [field, value] of Object.entries(retry)) {
    if (value !== null && (typeof value === 'object' || typeof value === 'symbol')) return null;
    const text = String(value);
    name += `${field.length} ${field} ${typeof value} ${text.length} ${text} `;
    if (name.length > LONGEST_NAME) return null;
  }
  return name;
}

function readRetry(options: Fields): RetryOptions {
  try {
    const retry = options.fields('retry')!;
    retry.refuseUnknown(RETRY_NAMES);
    retry.integer('max_attempts', { min: 0, max: MOST_ATTEMPTS });
    retry.number('backoff_coefficient', { min: 1, max: 1000 });
    const strategy = retry.oneOf('backoff_strategy', BACKOFF_STRATEGIES) ?? retry.oneOf('strategy', BACKOFF_STRATEGIES);
    retry.boolean('jitter');
    retry.strings('non_retryable_errors', { max: MOST_PATTERNS });
    retry.oneOf('on_exhaustion', EXHAUSTION_ACTIONS);
    const sent = withoutNulls(options.object('retry')!);
    return { ...sent, ...(retry.has('strategy') && { backoff_strategy: strategy! }), ...intervalsOf(retry) };
  } catch (error) {
    if (!(error instanceof WaybillError)) throw error;
    // The specification has a code of its own for a bad retry policy.
    throw new WaybillError('validation_error', error.message, { details: error.details ?? {} });
  }
}

function intervalsOf(retry: Fields): Pick<RetryOptions, 'initial_interval' | 'max_interval'> {
  const delay = retry.integer('initial_delay_ms', { min: 0, max: LONGEST_INTERVAL_MS });
  const initial = retry.durationOrMs('initial_interval', { max: LONGEST_INTERVAL_MS }) ?? delay;
  const longest = retry.durationOrMs('max_interval', { max: LONGEST_INTERVAL_MS });
  if (initial === 0) throw invalidField(retry.name('initial_interval'), 'must be longer than nothing.');
  if (longest === 0) throw invalidField(retry.name('max_interval'), 'must be longer than nothing.');
  if (initial !== undefined && longest !== undefined && longest < initial)
    throw invalidField(retry.name('max_interval'), "must not be shorter than 'initial_interval'.");
  return {
    ...(initial !== undefined && !retry.has('initial_interval') && { initial_interval: formatDuration(initial) }),
    ...(longest !== undefined && !retry.has('max_interval') && { max_interval: formatDuration(longest) }),
  };
}

/** A null means "the default", so it must not override the default when the policy is resolved. */
const withoutNulls = (retry: object): RetryOptions =>
  Object.fromEntries(Object.entries(retry).filter(([, value]) => value !== null));
