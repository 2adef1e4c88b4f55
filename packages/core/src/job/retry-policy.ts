import { readDuration } from '../duration.ts';
import type { JsonObject } from '../json.ts';
import type { ErrorInput } from './outcome.ts';

export const BACKOFF_STRATEGIES = ['exponential', 'linear', 'constant', 'polynomial'] as const;
export type BackoffStrategy = (typeof BACKOFF_STRATEGIES)[number];

export const EXHAUSTION_ACTIONS = ['discard', 'dead_letter'] as const;

/** As a producer writes it, in the words of the Open Job Spec; durations like `PT1.5S`. */
export interface RetryOptions {
  /** Runs in all, the first included; 0 and 1 both mean no retry. @defaultValue 3 */
  max_attempts?: number;
  /** @defaultValue 'PT1S' */
  initial_interval?: string;
  /** At least 1. @defaultValue 2 */
  backoff_coefficient?: number;
  /** @defaultValue 'exponential' */
  backoff_strategy?: BackoffStrategy;
  /** @defaultValue 'PT5M' */
  max_interval?: string;
  /** @defaultValue true */
  jitter?: boolean;
  /** Error types, codes or classes; a trailing `.*` matches what begins with the part before it. @defaultValue [] */
  non_retryable_errors?: string[];
  /** @defaultValue 'discard' */
  on_exhaustion?: (typeof EXHAUSTION_ACTIONS)[number];
}

export type RetryPolicy = Required<RetryOptions>;

export const DEFAULT_RETRY = {
  max_attempts: 3,
  initial_interval: 'PT1S',
  backoff_coefficient: 2,
  backoff_strategy: 'exponential',
  max_interval: 'PT5M',
  jitter: true,
  non_retryable_errors: [],
  on_exhaustion: 'discard',
} satisfies RetryPolicy;

/** Every field of a retry policy, as a producer writes it. */
export const RETRY_NAMES: readonly string[] = Object.keys(DEFAULT_RETRY);

export const resolveRetry = (options: RetryOptions | JsonObject | undefined): RetryPolicy =>
  options === undefined ? DEFAULT_RETRY : ({ ...DEFAULT_RETRY, ...options } as RetryPolicy);

/**
 * Delay before the retry that follows the `failures`-th failed attempt. `chance` in [0, 1) is passed in, so that the
 * function stays pure: jitter multiplies by 0.5 to 1.5 after the cap, as the Open Job Spec has it.
 */
export function retryDelayMs(policy: RetryPolicy, failures: number, chance: number): number {
  const capped = Math.min(rawDelayMs(policy, Math.max(1, failures)), readDuration(policy.max_interval));
  return Math.round(policy.jitter ? capped * (0.5 + chance) : capped);
}

/** May be infinite, which the cap bounds. */
function rawDelayMs(policy: RetryPolicy, n: number): number {
  const initial = readDuration(policy.initial_interval);
  // The factor grows beyond every number, and nothing times infinity is not a number.
  if (initial === 0) return 0;
  switch (policy.backoff_strategy) {
    case 'exponential':
      return initial * policy.backoff_coefficient ** (n - 1);
    case 'polynomial':
      return initial * n ** policy.backoff_coefficient;
    case 'linear':
      return initial * n;
    case 'constant':
      return initial;
  }
}

/** Whether the policy or the worker says that this error must not be tried again. */
export function isFinal(policy: RetryPolicy, error: Pick<ErrorInput, 'code' | 'type' | 'retryable'>): boolean {
  if (error.retryable === false) return true;
  const names = [error.type, error.code].filter((name) => name !== undefined);
  return policy.non_retryable_errors.some((pattern) => names.some((name) => matches(pattern, name)));
}

/** `auth.*` matches `auth.expired` but not `auth`. */
function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('.*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}
