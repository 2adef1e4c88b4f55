import { checkNames, RETRY_FIELDS, RETRY_NAMES, type RetryOptions, WaybillError } from '@waybill/core';

/** What jobs of tasks are enqueued with where neither the call nor the task says otherwise. */
export interface PolicyDefaults {
  /** Field by field. @defaultValue `{ on_exhaustion: 'dead_letter' }` */
  retry?: RetryOptions;
  /** Milliseconds that a dead letter is kept. @defaultValue what the engine's `retention.deadMs` says: 90 days */
  deadLetterMs?: number;
}

export interface TaskDefaults extends PolicyDefaults {
  /** What holds for single queues; it beats what holds for all. */
  queues?: Readonly<Record<string, PolicyDefaults>>;
}

/** A failed job of a task can be looked at and repaired. The Open Job Spec's own default forgets it. */
const KEPT: RetryOptions = Object.freeze({ on_exhaustion: 'dead_letter' });

/** The policy of a job, field by field: the call or the task first, then its queue, then all tasks. */
export function policyFor(
  { queue = 'default', retry, deadLetterMs }: PolicyDefaults & { queue?: string | undefined },
  defaults: TaskDefaults | undefined,
): { retry: RetryOptions; deadLetterMs: number | undefined } {
  if (defaults === undefined) return { retry: retry === undefined ? KEPT : over(KEPT, retry), deadLetterMs };
  const ofQueue = defaults.queues?.[queue];
  return {
    retry: over(over(over(KEPT, defaults.retry), ofQueue?.retry), retry),
    deadLetterMs: deadLetterMs ?? ofQueue?.deadLetterMs ?? defaults.deadLetterMs,
  };
}

/**
 * The far policy with what the near one says instead. What is given as undefined says nothing. A field under another name is the
 * same field: `initial_interval_ms` of a task takes the place of the connection's `initial_interval`.
 */
function over(far: RetryOptions, near: RetryOptions = {}): RetryOptions {
  const said = Object.entries(near).filter(([, value]) => value !== undefined);
  const fields = new Set(said.map(([name]) => RETRY_FIELDS[name as keyof RetryOptions]));
  const left = Object.entries(far).filter(([name]) => !fields.has(RETRY_FIELDS[name as keyof RetryOptions]));
  return Object.fromEntries([...left, ...said]);
}

const NAMES: Readonly<Record<keyof PolicyDefaults, true>> = { retry: true, deadLetterMs: true };

/** Refuses misspelt names and wrong lengths. `owner` says whose policy it is. */
export function checkPolicy(owner: string, { retry, deadLetterMs }: PolicyDefaults): void {
  if (retry !== undefined) checkNames(`${owner}: 'retry'`, retry, RETRY_NAMES);
  if (deadLetterMs === undefined || (Number.isSafeInteger(deadLetterMs) && deadLetterMs > 0)) return;
  const found = typeof deadLetterMs === 'number' ? deadLetterMs : typeof deadLetterMs;
  throw new WaybillError(
    'invalid_request',
    `${owner}: 'deadLetterMs' must be whole milliseconds above 0, not ${found}.`,
  );
}

export function checkTaskDefaults(owner: string, defaults: TaskDefaults): void {
  checkNames(owner, defaults, [...Object.keys(NAMES), 'queues']);
  checkPolicy(owner, defaults);
  if (defaults.queues === undefined) return;
  const queues: unknown = defaults.queues;
  if (typeof queues !== 'object' || queues === null) {
    throw new WaybillError('invalid_request', `${owner}: 'queues' must be an object with a policy for each queue.`);
  }
  for (const [name, policy] of Object.entries(queues)) {
    const ofQueue = `${owner}: 'queues.${name}'`;
    checkNames(ofQueue, policy, Object.keys(NAMES));
    checkPolicy(ofQueue, policy);
  }
}
