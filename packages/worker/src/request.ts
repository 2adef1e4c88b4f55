import { checkNames, type JobOptions, type JobRequest, WaybillError } from '@waybill/core';
import { checkBySchema, plainJson } from './checked-json.ts';
import { ENQUEUE_OPTIONS, type EnqueueOptions } from './enqueue-options.ts';
import { momentText } from './policy-values.ts';
import { type AnyTask, checkRules, checkTask } from './task.ts';
import { checkPolicy, policyFor, type TaskDefaults } from './task-defaults.ts';
import type { TaskPolicy } from './task-policy.ts';

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
  const of = { kind: 'task', name: task.name, schema: task.schema, what: 'input' } as const;
  const json = input === undefined ? undefined : plainJson(of, input, root);
  await checkBySchema(of, json, root);
  const { id, meta } = options;
  return {
    type: task.name,
    args: json === undefined ? [] : [json],
    ...(id !== undefined && { id }),
    ...(meta !== undefined && { meta }),
    options: jobOptions(task.policy, options, input, defaults),
  };
}

/**
 * The envelope of what a map makes many jobs of. Their inputs are not known yet: each is checked when it is run. A rule that
 * is a function of the input has none to be asked about.
 */
export function templateFor(task: AnyTask, options: EnqueueOptions, defaults: TaskDefaults | undefined): JobRequest {
  checkTask(task);
  checkNames('map()', options, ENQUEUE_OPTIONS);
  checkPolicy('map()', options);
  const { unique: _, limit, ...policy } = task.policy;
  if (typeof limit === 'function' && options.limit === undefined)
    throw new WaybillError(
      'invalid_request',
      `The 'limit' of task '${task.name}' is a function of the input, which a map cannot ask. Give map() a 'limit' or a 'concurrency'.`,
    );
  const { meta } = options;
  const plainPolicy = typeof limit === 'function' || limit === undefined ? policy : { ...policy, limit };
  return {
    type: task.name,
    args: [],
    ...(meta !== undefined && { meta }),
    options: jobOptions(plainPolicy, options, undefined, defaults),
  };
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
