import type {
  Job,
  JobError,
  JobState,
  Json,
  JsonObject,
  Lease,
  LeaseRevision,
  PayloadUrls,
  RetryOptions,
} from '@waybill/core';
import { present } from './present.ts';
import { revisionToWire, rulesToWire, type WireRevision, type WireRules } from './rules-wire.ts';
import { metaToWire } from './tenant-wire.ts';
import { toRfc3339 } from './time.ts';

/** A failed attempt as the API shows it. */
export interface WireJobError {
  /** Class of the error where the worker named one, else its code. */
  type: string;
  code: string;
  message: string;
  retryable?: boolean;
  attempt: number;
  run: number;
  occurred_at: string;
  /** The same as `occurred_at`, under the name that the specification's text on retries has for it. */
  timestamp: string;
  details?: Json;
}

/** The job object of the Open Job Spec. What does not apply is absent, never null. */
export interface WireJob {
  /** Of the Open Job Spec. */
  specversion: '1.0';
  id: string;
  type: string;
  state: JobState;
  queue: string;
  /** Absent where it is so large that `args_url` says where it is; never in answers to a fetch. */
  args?: Json[];
  /** Good for some minutes and for whoever has it: a secret. */
  args_url?: string;
  /** With the tenant as `tenant_id`, where it has one. */
  meta: JsonObject;
  priority: number;
  attempt: number;
  max_attempts: number;
  /** Number of claims so far; unlike `attempt` it is never reset. */
  run: number;
  created_at: string;
  enqueued_at?: string;
  /** Due time, while the job is `scheduled`. */
  scheduled_at?: string;
  started_at?: string;
  completed_at?: string;
  cancelled_at?: string;
  discarded_at?: string;
  expires_at?: string;
  /** Due time, while the job is `retryable`. */
  next_attempt_at?: string;
  /** The same, under the name that the specification's text on retries has for it. */
  next_retry_at?: string;
  retry_delay_ms?: number;
  timeout_ms?: number;
  visibility_timeout_ms?: number;
  retry?: RetryOptions;
  tags?: string[];
  options?: JsonObject;
  /** The newest failure; a completed job shows none. */
  error?: WireJobError;
  errors?: WireJobError[];
  /** Absent, too, where `result_url` says where it is. */
  result?: Json;
  result_url?: string;
  /** The workflow that this job is a node of, and its name there. */
  workflow_id?: string;
  node?: string;
  /** Conditions, delays, maps, signals and reviews of a node that has some. */
  rules?: WireRules;
  /** `skipped`: a node that did not run, because its condition was false. Absent where the state tells it. */
  outcome?: 'skipped';
  /** True when it was given up and kept for repair; else absent. */
  dead_letter?: boolean;
  /** Who runs it, while it is `active`, until when, and how much a heartbeat adds. */
  worker_id?: string;
  lease_expires_at?: string;
  lease_ms?: number;
  /** Names the run that a worker was given; only in answers to a fetch. */
  lease_token?: string;
  /** What the nodes before this one came to; only in answers to a fetch. */
  parent_results?: Json[];
  /** What a reviewer asked for, with the output of the iteration before as `previous`; only in answers to a fetch. */
  revision?: WireRevision & { previous: Json };
  /** What an earlier run left to go on from; only in answers to a fetch. */
  last_checkpoint?: JsonObject;
  [unknown: string]: unknown;
}

/** Names that this API gives a meaning: a producer's unknown field may not pass for one of them. */
const OURS: ReadonlySet<string> = new Set([
  'scheduled_at',
  'expires_at',
  'next_attempt_at',
  'next_retry_at',
  'retry_delay_ms',
  'timeout_ms',
  'visibility_timeout_ms',
  'retry',
  'run',
  'node',
  'rules',
  'outcome',
  'dead_letter',
  'worker_id',
  'lease_expires_at',
  'lease_ms',
  'args_url',
  'result_url',
]);

/** What only the worker of a run is told. */
export interface RunFacts {
  leaseToken?: string | undefined;
  parentResults?: Json[] | undefined;
  revision?: LeaseRevision | undefined;
  checkpoint?: JsonObject | undefined;
}

/** What a reader is told besides the job itself. */
export interface WireFacts extends RunFacts {
  /** Where payloads are that are too large to be told. */
  urls?: PayloadUrls | undefined;
}

export function jobToWire(job: Job, facts: WireFacts = {}): WireJob {
  const { leaseToken, parentResults, revision, checkpoint, urls = {} } = facts;
  const { spec } = job;
  const errors = job.errors.map(errorToWire);
  return {
    ...unknownFields(spec.extra),
    specversion: '1.0',
    id: job.id,
    type: job.type,
    state: job.state,
    queue: job.queue,
    ...(urls.args === undefined ? { args: spec.args } : { args_url: urls.args }),
    meta: metaToWire(spec.meta, job.tenant),
    priority: job.priority,
    attempt: job.attempt,
    max_attempts: job.maxAttempts,
    run: job.run,
    created_at: toRfc3339(job.createdAt),
    ...timesOf(job),
    ...present('retry_delay_ms', job.retryDelayMs),
    ...present('timeout_ms', job.timeoutMs),
    ...present('visibility_timeout_ms', job.visibilityMs),
    ...present('retry', spec.retry),
    ...present('tags', spec.tags),
    ...present('options', spec.options),
    ...present('error', job.state === 'completed' ? undefined : errors.at(-1)),
    ...present('errors', errors.length === 0 ? undefined : errors),
    ...(urls.result === undefined ? present('result', resultOf(job)) : { result_url: urls.result }),
    ...present('workflow_id', job.workflowId),
    ...present('node', job.node),
    ...present('rules', rulesToWire(spec.rules)),
    ...present('outcome', job.outcome === 'skipped' ? job.outcome : undefined),
    ...present('dead_letter', job.dead || undefined),
    ...(job.state === 'active' && leaseOf(job)),
    ...present('lease_token', job.state === 'active' ? leaseToken : undefined),
    ...present('parent_results', parentResults),
    ...present('revision', revision && { ...revisionToWire(revision), previous: revision.previous }),
    ...present('last_checkpoint', checkpoint),
  };
}

/** What a gate of a workflow was told before it completes is no result. */
const resultOf = ({ state, result, spec: { rules } }: Job): Json | null =>
  state !== 'completed' && (rules?.signal || rules?.review) ? null : result;

/** As its worker gets it. */
export const leaseToWire = ({ job, token: leaseToken, parentResults, revision, checkpoint }: Lease): WireJob =>
  jobToWire(job, { leaseToken, parentResults, revision, checkpoint });

function timesOf(job: Job) {
  const { state } = job;
  // A job that expired was never worked on to an end; the suites tell it from one that used up its attempts by this.
  const workedToTheEnd = state === 'completed' || (state === 'discarded' && job.outcome !== 'expired');
  return {
    ...present('enqueued_at', rendered(job.enqueuedAt)),
    ...present('scheduled_at', rendered(state === 'scheduled' ? job.scheduledAt : null)),
    ...present('started_at', rendered(job.startedAt)),
    ...present('completed_at', rendered(workedToTheEnd ? job.finishedAt : null)),
    ...present('cancelled_at', rendered(state === 'cancelled' ? job.finishedAt : null)),
    ...present('discarded_at', rendered(state === 'discarded' ? job.finishedAt : null)),
    ...present('expires_at', expiryOf(job)),
    ...present('next_attempt_at', rendered(state === 'retryable' ? job.scheduledAt : null)),
    ...present('next_retry_at', rendered(state === 'retryable' ? job.scheduledAt : null)),
  };
}

/** A worker paces its heartbeats by this, and people see who has the job. */
const leaseOf = (job: Job) => ({
  ...present('worker_id', job.workerId),
  ...present('lease_expires_at', rendered(job.leaseUntil)),
  ...present('lease_ms', job.leaseMs),
});

/** An absolute expiry is given back letter by letter, as the suites want it; a relative one means nothing later on. */
function expiryOf(job: Job): string | undefined {
  if (job.expiresAt === null) return undefined;
  const sent = job.spec.options?.['expires_at'];
  return typeof sent === 'string' && !sent.startsWith('+') ? sent : toRfc3339(job.expiresAt);
}

function errorToWire(error: JobError): WireJobError {
  return {
    type: error.type ?? classIn(error.details) ?? error.code,
    code: error.code,
    message: error.message,
    ...present('retryable', error.retryable),
    attempt: error.attempt,
    run: error.run,
    occurred_at: toRfc3339(error.occurredAt),
    timestamp: toRfc3339(error.occurredAt),
    ...present('details', error.details),
  };
}

/** Where workers that know only the specification's fields put the class of an error. */
export function classIn(details: Json | undefined): string | undefined {
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return undefined;
  const name = details['error_class'];
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function unknownFields(extra: JsonObject | undefined): JsonObject {
  return extra === undefined ? {} : Object.fromEntries(Object.entries(extra).filter(([name]) => !OURS.has(name)));
}

const rendered = (moment: number | null): string | undefined => (moment === null ? undefined : toRfc3339(moment));
