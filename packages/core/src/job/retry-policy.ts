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
  /** Longer than nothing. @defaultValue 'PT1S', or `max_interval` where that is shorter */
  initial_interval?: string;
  /** The same in milliseconds, as the specification's HTTP binding writes it. */
  initial_interval_ms?: number;
  /** The same, as one of its suites writes it. */
  initial_delay_ms?: number;
  /** At least 1. @defaultValue 2 */
  backoff_coefficient?: number;
  /** @defaultValue 'exponential' */
  backoff_strategy?: BackoffStrategy;
  /** The same, as one of the specification's suites writes it. */
  strategy?: BackoffStrategy;
  /** No delay is longer, jitter included. @defaultValue 'PT5M', or `initial_interval` where that is longer */
  max_interval?: string;
  /** The same in milliseconds. */
  max_interval_ms?: number;
  /** @defaultValue true */
  jitter?: boolean;
  /** Error types, codes or classes; a trailing `.*` matches what begins with the part before it. @defaultValue [] */
  non_retryable_errors?: string[];
  /** @defaultValue 'discard' */
  on_exhaustion?: (typeof EXHAUSTION_ACTIONS)[number];
}

type OtherName = 'initial_interval_ms' | 'initial_delay_ms' | 'max_interval_ms' | 'strategy';
export type RetryPolicy = Required<Omit<RetryOptions, OtherName>>;

/** Every name that a producer may write, and the field of the policy that it is a name of. */
export const RETRY_FIELDS: Readonly<Record<keyof RetryOptions, keyof RetryPolicy>> = {
  max_attempts: 'max_attempts',
  initial_interval: 'initial_interval',
  initial_interval_ms: 'initial_interval',
  initial_delay_ms: 'initial_interval',
  max_interval: 'max_interval',
  max_interval_ms: 'max_interval',
  backoff_coefficient: 'backoff_coefficient',
  backoff_strategy: 'backoff_strategy',
  strategy: 'backoff_strategy',
  jitter: 'jitter',
  non_retryable_errors: 'non_retryable_errors',
  on_exhaustion: 'on_exhaustion',
};
export const RETRY_NAMES: readonly string[] = Object.keys(RETRY_FIELDS);

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

export const resolveRetry = (options: RetryOptions | JsonObject | undefined): RetryPolicy =>
  options === undefined ? DEFAULT_RETRY : ({ ...DEFAULT_RETRY, ...options } as RetryPolicy);

/**
 * Delay before the retry that follows the `failures`-th failed attempt. `chance` in [0, 1) is passed in, so that the
 * function stays pure: jitter multiplies by 0.5 to 1.5. The cap comes before and after it, as the Open Job Spec has it: jitter
 * never leads beyond what the producer allows.
 */
export function retryDelayMs(policy: RetryPolicy, failures: number, chance: number): number {
  const initial = readDuration(policy.initial_interval);
  const longest = longestMs(policy, initial);
  const capped = Math.min(rawDelayMs(policy, initial, Math.max(1, failures)), longest);
  return Math.round(policy.jitter ? Math.min(capped * (0.5 + chance), longest) : capped);
}

/** A policy that names only its first interval means at least that one, even beyond the default cap. */
function longestMs({ max_interval }: RetryPolicy, initial: number): number {
  const longest = readDuration(max_interval);
  return max_interval === DEFAULT_RETRY.max_interval ? Math.max(longest, initial) : longest;
}

/** May be infinite, which the cap bounds. */
function rawDelayMs(policy: RetryPolicy, initial: number, n: number): number {
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

/** Codes by which a handler decides about its job itself, whatever the policy says. `RETRY` leaves it to the policy. */
const VERDICTS: Readonly<Record<string, { keep: boolean }>> = {
  DISCARD: { keep: false },
  FAIL: { keep: false },
  DEAD_LETTER: { keep: true },
};

/** Whether a job that is given up because of this error is kept as a dead letter. */
export const keepsDead = (policy: RetryPolicy, { code }: Pick<ErrorInput, 'code'>): boolean =>
  Object.hasOwn(VERDICTS, code) ? VERDICTS[code]!.keep : policy.on_exhaustion === 'dead_letter';

/** Whether the handler, the worker or the policy says that this error must not be tried again. */
export function isFinal(policy: RetryPolicy, error: Pick<ErrorInput, 'code' | 'type' | 'retryable'>): boolean {
  if (error.retryable === false || Object.hasOwn(VERDICTS, error.code)) return true;
  const names = [error.type, error.code].filter((name) => name !== undefined);
  return policy.non_retryable_errors.some((pattern) => names.some((name) => matches(pattern, name)));
}

/** `auth.*` matches `auth.expired` but not `auth`. */
function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('.*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}
