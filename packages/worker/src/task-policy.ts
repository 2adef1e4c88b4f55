import type { LimitOptions, RetryOptions, UniqueOptions } from '@waybill/core';

/** What every job of a task is enqueued with, unless the call says otherwise. */
export interface TaskPolicy<Input = unknown> {
  /** @defaultValue 'default' */
  queue?: string;
  /** Higher first, -100 to 100. @defaultValue 0 */
  priority?: number;
  /** Whatever it leaves out is as the connection says. @defaultValue 3 attempts, then a dead letter */
  retry?: RetryOptions;
  /** Milliseconds that a job is kept as a dead letter, should it become one. @defaultValue as the connection says, else 90 days */
  deadLetterMs?: number;
  /** Milliseconds that one run may take. Counted from the claim. @defaultValue no limit */
  timeout?: number;
  unique?: UniqueOptions | ((input: Input) => UniqueOptions);
  limit?: LimitOptions | ((input: Input) => LimitOptions);
}

const POLICY: Readonly<Record<keyof TaskPolicy, true>> = {
  ...{ queue: true, priority: true, retry: true, deadLetterMs: true, timeout: true, unique: true, limit: true },
};
/** Every name of a task's policy. */
export const POLICY_NAMES: readonly string[] = Object.keys(POLICY);
