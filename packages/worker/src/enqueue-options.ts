import type { Job, JsonObject, LimitOptions, Transaction, UniqueOptions } from '@waybill/core';
import { POLICY_NAMES, type TaskPolicy } from './task-policy.ts';
import type { TaskInput } from './typed-task.ts';

/** What one call may say about its job; it beats what the task says. */
export interface EnqueueOptions extends Omit<TaskPolicy, 'unique' | 'limit'> {
  /** UUIDv7. One that another job has is refused with `duplicate`; `idempotencyKey` makes a call repeatable. */
  id?: string;
  /** Milliseconds from now, or a moment. */
  delay?: number | Date;
  /** Not started by then: discarded. */
  expires?: Date;
  /** Starts only when activated. */
  pending?: boolean;
  tags?: string[];
  meta?: JsonObject;
  unique?: UniqueOptions;
  limit?: LimitOptions;
  /** A call repeated under the same key answers the first job. */
  idempotencyKey?: string;
  tenant?: string;
  /** A transaction of the caller's own, which the job becomes part of. Only on PostgreSQL, see docs/postgres.md. */
  within?: Transaction;
}

/** What a call may say beside the policy of its task. */
const OF_A_CALL: Readonly<Record<Exclude<keyof EnqueueOptions, keyof TaskPolicy>, true>> = {
  ...{ id: true, delay: true, expires: true, pending: true, tags: true, meta: true },
  ...{ idempotencyKey: true, tenant: true, within: true },
};
export const ENQUEUE_OPTIONS: readonly string[] = [...POLICY_NAMES, ...Object.keys(OF_A_CALL)];

/** What a handler may say of a job that it enqueues: it belongs to the tenant of its own job. */
export type RunEnqueueOptions = Omit<EnqueueOptions, 'tenant' | 'within'>;

/** A task without input needs none in the call. */
export type EnqueueGiven<T> = [TaskInput<T>] extends [undefined]
  ? [input?: undefined, options?: RunEnqueueOptions]
  : [input: TaskInput<T>, options?: RunEnqueueOptions];

export interface EnqueuedFromRun {
  id: string;
  job: Job;
  /** False: a job under the same idempotency key or unique key was there already, and this is it. */
  created: boolean;
}
