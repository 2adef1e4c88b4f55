import {
  checkNames,
  type JobOptions,
  type JobRequest,
  type Json,
  type JsonObject,
  type LimitOptions,
  type Transaction,
  type UniqueOptions,
  WaybillError,
} from '@waybill/core';
import { toJson } from './jsonified.ts';
import { momentText } from './policy-values.ts';
import { pathOf, type SchemaIssue } from './standard-schema.ts';
import { type AnyTask, checkRules, checkTask, POLICY_NAMES, type TaskPolicy } from './task.ts';
import { checkPolicy, policyFor, type TaskDefaults } from './task-defaults.ts';

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

const MAX_ISSUES = 20;

/**
 * The envelope of one job of a task. What is checked is the input as it will arrive, not as it was handed in: a Date
 * that a schema would take here but not after its trip through JSON is refused before anything is stored.
 */
export async function requestFor(
  task: AnyTask,
  input: unknown,
  options: EnqueueOptions = {},
  { root = 'input', defaults }: { root?: string; defaults?: TaskDefaults | undefined } = {},
): Promise<JobRequest> {
  checkTask(task);
  checkNames('enqueue()', options, ENQUEUE_OPTIONS);
  checkPolicy('enqueue()', options);
  const json = input === undefined ? undefined : plain(task, input, root);
  await checkInput(task, json, root);
  const { id, meta } = options;
  return {
    type: task.name,
    args: json === undefined ? [] : [json],
    ...(id !== undefined && { id }),
    ...(meta !== undefined && { meta }),
    options: jobOptions(task.policy, options, input, defaults),
  };
}

function plain(task: AnyTask, input: unknown, root: string): Json {
  const answer = toJson(input);
  if (answer.ok) return answer.value;
  throw new WaybillError('validation_error', `'${root}' of task '${task.name}' is not JSON: ${answer.problem}.`, {
    details: { task: task.name, field: root },
  });
}

async function checkInput(task: AnyTask, value: unknown, root: string): Promise<void> {
  if (task.schema === undefined) return;
  const { issues } = await task.schema['~standard'].validate(value);
  if (issues === undefined) return;
  throw new WaybillError('validation_error', `Task '${task.name}' refuses its input: ${describe(issues, root)}`, {
    details: {
      task: task.name,
      field: pathOf(issues[0]!, root),
      issues: issues.slice(0, MAX_ISSUES).map((issue) => ({ path: pathOf(issue, root), message: issue.message })),
    },
  });
}

/** The first few problems in one line, each with its path. */
export function describe(issues: readonly SchemaIssue[], root: string): string {
  const told = issues.slice(0, 3).map((issue) => `'${pathOf(issue, root)}' ${issue.message}`);
  return issues.length > told.length ? `${told.join('; ')}; and ${issues.length - told.length} more` : told.join('; ');
}

function jobOptions(
  policy: TaskPolicy,
  options: EnqueueOptions,
  input: unknown,
  defaults: TaskDefaults | undefined,
): JobOptions {
  const said = { ...policy, ...defined(options) };
  const { queue, priority, timeout } = said;
  const { retry, deadLetterMs } = policyFor(said, defaults);
  const unique = options.unique ?? (typeof policy.unique === 'function' ? policy.unique(input) : policy.unique);
  const limit = options.limit ?? (typeof policy.limit === 'function' ? policy.limit(input) : policy.limit);
  checkRules('enqueue()', unique, limit);
  const { delay, expires, pending, tags } = options;
  return defined({
    queue,
    priority,
    retry,
    dead_letter_retention_ms: deadLetterMs,
    timeout_ms: timeout,
    unique,
    rate_limit: limit,
    scheduled_at: delay === undefined ? undefined : momentOf(delay),
    expires_at: expires === undefined ? undefined : momentText('expires', expires),
    pending,
    tags,
  });
}

/** A delay is told relative to the server's clock: ours may be wrong. */
function momentOf(delay: number | Date): string {
  if (delay instanceof Date) return momentText('delay', delay);
  if (Number.isFinite(delay) && delay >= 0) return `+PT${Math.round(delay) / 1000}S`;
  throw new WaybillError('invalid_request', `'delay' must be a Date or milliseconds from 0 on, not ${delay}.`);
}

function defined<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}
