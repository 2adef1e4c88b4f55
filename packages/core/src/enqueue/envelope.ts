import { Fields } from '../check.ts';
import { invalidField, WaybillError } from '../errors.ts';
import { isJobId } from '../job/id.ts';
import type { JobSpec } from '../job/job.ts';
import { PRIORITY_MAX, PRIORITY_MIN } from '../job/rank.ts';
import type { RetryOptions } from '../job/retry-policy.ts';
import type { Json, JsonObject } from '../json.ts';
import { checkLimit, type JobLimit, type LimitOptions } from '../limits/limit-options.ts';
import { readMoment } from './moment.ts';
import { checkRetry } from './retry-options.ts';
import { checkStorable } from './storable.ts';
import { checkUnique, isUniqueAcrossQueues, keptUnique, type UniqueOptions, type UniqueRule } from './unique.ts';

/** What a producer sends: the Open Job Spec envelope. Unknown fields are kept and given back. */
export interface JobRequest {
  type: string;
  args: Json[];
  /** UUIDv7; made by the server when absent. */
  id?: string;
  meta?: JsonObject;
  options?: JobOptions;
  [unknown: string]: unknown;
}

export interface JobOptions {
  /** @defaultValue 'default' */
  queue?: string;
  /** Higher first. @defaultValue 0 */
  priority?: number;
  /** How long a run may take; enforced by the engine. @defaultValue no limit */
  timeout_ms?: number;
  /** The same in seconds. */
  timeout?: number;
  /** Lease length of this job; beats the one that a worker asks for. */
  visibility_timeout_ms?: number;
  /** The same in seconds. */
  visibility_timeout?: number;
  /** RFC 3339, or `+PT5M` from now. `delay_until` means the same. */
  scheduled_at?: string;
  delay_until?: string;
  /** Not started by then: discarded. */
  expires_at?: string;
  /** Starts only when activated. */
  pending?: boolean;
  retry?: RetryOptions;
  /** How long the job is kept as a dead letter, should it become one. @defaultValue what the engine's retention says */
  dead_letter_retention_ms?: number;
  /** Any JSON for the compiler, so that an envelope may be put together at run time; the engine checks it. */
  unique?: UniqueOptions | JsonObject;
  rate_limit?: LimitOptions | JsonObject;
  tags?: string[];
  [unknown: string]: unknown;
}

/** The request after every rule has been checked. */
export interface CheckedRequest {
  id: string | undefined;
  type: string;
  queue: string;
  priority: number;
  timeoutMs: number | null;
  visibilityMs: number | null;
  scheduledAt: number | null;
  expiresAt: number | null;
  pending: boolean;
  maxAttempts: number | undefined;
  unique: UniqueRule | null;
  limit: JobLimit | null;
  spec: JobSpec;
}

const TYPE = /^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$/;
const QUEUE = /^[a-z0-9][a-z0-9.-]*$/;
/** Of the Open Job Spec. */
export const SPEC_VERSION = '1.0';
const MAX_TYPE = 255;
const MAX_QUEUE = 128;
/** Longer than any job or workflow may take or wait. */
export const LONGEST_MS = 366 * 86_400_000;
const LONGEST_RETENTION_MS = 10 * LONGEST_MS;
const MAX_TAGS = 100;
const ANY_LENGTH = { max: Number.POSITIVE_INFINITY };

/** Without the index signature, by which an envelope also takes fields of other programs. */
type NameOf<T> = keyof { [Name in keyof T as string extends Name ? never : Name]: true };

const ENVELOPE_FIELDS: Readonly<Record<NameOf<JobRequest>, true>> = {
  ...{ type: true, args: true, id: true, meta: true, options: true },
};
/** Every name of an envelope that a producer writes, without its options. */
export const ENVELOPE_NAMES: readonly string[] = Object.keys(ENVELOPE_FIELDS);

/**
 * What becomes of each option: a column or a part of the spec with a name of its own, or it is kept among the options as sent.
 * `pending` is kept because a row does not tell later on that it was.
 */
const OPTION_FIELDS: Readonly<Record<NameOf<JobOptions>, 'column' | 'kept'>> = {
  queue: 'column',
  priority: 'column',
  timeout_ms: 'column',
  timeout: 'column',
  visibility_timeout_ms: 'column',
  visibility_timeout: 'column',
  scheduled_at: 'kept',
  delay_until: 'kept',
  expires_at: 'kept',
  pending: 'kept',
  retry: 'column',
  dead_letter_retention_ms: 'kept',
  unique: 'kept',
  rate_limit: 'kept',
  tags: 'column',
};
/** Options may also stand at the top of the envelope, where the specification's core text has them. */
export const OPTION_NAMES = Object.keys(OPTION_FIELDS) as readonly NameOf<JobOptions>[];
const OPTIONS: ReadonlySet<string> = new Set(OPTION_NAMES);
const COLUMN_OPTIONS: ReadonlySet<string> = new Set(OPTION_NAMES.filter((name) => OPTION_FIELDS[name] === 'column'));
/** What the system manages is ignored when a producer sends it. */
export const MANAGED_NAMES: readonly string[] = [
  ...['state', 'attempt', 'max_attempts', 'run', 'created_at', 'enqueued_at', 'started_at', 'completed_at'],
  ...['cancelled_at', 'discarded_at', 'next_attempt_at', 'retry_delay_ms', 'error', 'errors', 'result', 'lease_token'],
  ...['next_retry_at', 'parent_results', 'last_checkpoint', 'workflow_id', 'specversion'],
];
const NOT_EXTRA: ReadonlySet<string> = new Set([...ENVELOPE_NAMES, ...OPTION_NAMES, ...MANAGED_NAMES]);

export function checkEnvelope(request: unknown, now: number): CheckedRequest {
  const envelope = new Fields(request);
  checkSpecVersion(envelope);
  const type = envelope.requiredString('type', { max: MAX_TYPE });
  if (!TYPE.test(type)) throw invalidField('type', 'must be lower-case words joined by dots, like email.send.');
  const id = envelope.string('id');
  if (id !== undefined && !isJobId(id)) throw invalidField('id', 'must be a UUIDv7 in lower case.');
  const args = envelope.array('args', ANY_LENGTH);
  if (args === undefined) throw invalidField('args', 'is required and must be an array.');
  const options = optionsOf(envelope);
  const retry = checkRetry(options);
  options.integer('dead_letter_retention_ms', { min: 1, max: LONGEST_RETENTION_MS });
  const tags = options.strings('tags', { max: MAX_TAGS });
  const kept = options.rest(COLUMN_OPTIONS);
  const extra = envelope.rest(NOT_EXTRA);
  const queue = queueIn(options);
  const meta = envelope.object('meta') ?? {};
  checkStorable('args', args);
  checkStorable('meta', meta);
  if (kept) checkStorable('options', kept);
  if (extra) checkStorable('body', extra);
  const unique = checkUnique(options, { type, queue, args, meta });

  return {
    id,
    type,
    queue,
    priority: options.integer('priority', { min: PRIORITY_MIN, max: PRIORITY_MAX }) ?? 0,
    timeoutMs: readLength(options, 'timeout'),
    visibilityMs: readLength(options, 'visibility_timeout'),
    scheduledAt: readSchedule(options, now),
    expiresAt: readMoment(options, 'expires_at', now),
    pending: options.boolean('pending') ?? false,
    maxAttempts: retry?.max_attempts,
    unique,
    limit: checkLimit(options, queue),
    spec: {
      args,
      meta,
      ...(tags && { tags }),
      ...(retry && { retry }),
      ...(kept && {
        options: unique === null ? kept : { ...kept, unique: keptUnique(options.object('unique')!, unique) },
      }),
      ...(extra && { extra }),
    },
  };
}

const optionsOf = (envelope: Fields): Fields =>
  new Fields(merged(envelope.some(OPTIONS), envelope.object('options')), 'options');

const queueIn = (options: Fields): string => checkQueue(options.string('queue') ?? 'default', 'options.queue');

/** Where a request wants its job to be, and which limit it wants to share or change. */
export interface Destination {
  type: string;
  queue: string;
  limit?: JobLimit | null;
}

/** Where the job of a request will go, and which others it may meet; read as `checkEnvelope` reads it. */
export function destinationOf(request: unknown): Destination & { meetsOtherQueues: boolean } {
  const envelope = new Fields(request);
  const options = optionsOf(envelope);
  const type = envelope.requiredString('type', { max: MAX_TYPE });
  const queue = queueIn(options);
  const meetsOtherQueues = isUniqueAcrossQueues(options, envelope.array('args', ANY_LENGTH) ?? []);
  return { type, queue, limit: checkLimit(options, queue), meetsOtherQueues };
}

/** Hardly anybody uses both places, and a copy for each job would cost more than all checks of it. */
const merged = (top: JsonObject | undefined, options: JsonObject | undefined): JsonObject =>
  top && options ? { ...top, ...options } : (options ?? top ?? {});

/** For jobs that something else than a producer makes: whether they come to be is not theirs to decide. */
export function checkPlain(request: unknown, now: number): CheckedRequest {
  const checked = checkEnvelope(request, now);
  if (checked.unique === null) return checked;
  throw invalidField('options.unique', 'has no meaning here: a schedule has its overlap policy, a workflow its nodes.');
}

export function checkType(type: string, field: string): string {
  if (typeof type === 'string' && type.length <= MAX_TYPE && TYPE.test(type)) return type;
  throw invalidField(
    field,
    `must be lower-case words joined by dots, such as email.send, of 1 to ${MAX_TYPE} characters.`,
  );
}

export function checkQueue(queue: string, field: string): string {
  if (typeof queue === 'string' && queue.length <= MAX_QUEUE && QUEUE.test(queue)) return queue;
  const rule = `must be 1 to ${MAX_QUEUE} characters of a-z, 0-9, '.' and '-', beginning with a letter or digit.`;
  throw invalidField(field, rule, { received: String(queue).slice(0, MAX_QUEUE) });
}

export const queueNotFound = (queue: string): WaybillError =>
  new WaybillError('not_found', `There is no queue '${queue}'.`);

/** A later version may mean something else by the same fields. */
function checkSpecVersion(envelope: Fields): void {
  const version = envelope.string('specversion');
  if (version === undefined || version === SPEC_VERSION) return;
  throw invalidField('specversion', `must be ${SPEC_VERSION}.`, {
    received: version.slice(0, 20),
    allowed: [SPEC_VERSION],
  });
}

/** Milliseconds; the specification's core text has the same in seconds, where 0 means no limit of its own. */
function readLength(options: Fields, name: 'timeout' | 'visibility_timeout'): number | null {
  const ms = options.integer(`${name}_ms`, { min: 1, max: LONGEST_MS });
  const seconds = options.integer(name, { min: 0, max: LONGEST_MS / 1_000 });
  if (seconds === undefined) return ms ?? null;
  if (ms === undefined || ms === seconds * 1_000) return seconds === 0 ? null : seconds * 1_000;
  throw invalidField(options.name(name), `contradicts '${options.name(`${name}_ms`)}': send one of them.`);
}

function readSchedule(options: Fields, now: number): number | null {
  if (options.has('scheduled_at') && options.has('delay_until')) {
    throw invalidField('options.delay_until', "means the same as 'options.scheduled_at': send one of them.");
  }
  return readMoment(options, 'scheduled_at', now) ?? readMoment(options, 'delay_until', now);
}
