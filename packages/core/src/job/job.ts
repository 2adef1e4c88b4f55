import type { Json, JsonObject } from '../json.ts';
import type { NodeRules } from './node-rules.ts';
import type { RetryOptions } from './retry-policy.ts';

export const JOB_STATES = [
  'scheduled',
  'available',
  'pending',
  'active',
  'completed',
  'retryable',
  'cancelled',
  'discarded',
] as const;

export type JobState = (typeof JOB_STATES)[number];

const FINISHED: ReadonlySet<JobState> = new Set(['completed', 'cancelled', 'discarded']);

export const isFinished = (state: JobState): boolean => FINISHED.has(state);

/**
 * What a run came to. `lost`: its lease ran out; `timed_out`: the execution timeout passed. `skipped`: there was no run,
 * because the condition of a workflow's node was false.
 */
export type OutcomeKind =
  | 'completed'
  | 'failed'
  | 'snoozed'
  | 'requeued'
  | 'cancelled'
  | 'discarded'
  | 'lost'
  | 'timed_out'
  | 'expired'
  | 'skipped';

export interface JobError {
  code: string;
  message: string;
  /** Class of the error, e.g. `SmtpConnectionError`. */
  type?: string;
  retryable?: boolean;
  details?: Json;
  attempt: number;
  run: number;
  occurredAt: number;
}

/** What the producer asked for. Written once with the job and never changed, so stores may keep it apart. */
export interface JobSpec {
  args: Json[];
  meta: JsonObject;
  tags?: string[];
  /** As sent; `resolveRetry` fills in the defaults. */
  retry?: RetryOptions;
  /** Options that have no column of their own, kept as sent; `unique` has its period as `period` in any case. */
  options?: JsonObject;
  /** Unknown top-level fields, kept and given back. */
  extra?: JsonObject;
  /** Of a workflow's node that has some. */
  rules?: NodeRules;
}

/** One row: the truth about one job. All times are milliseconds since the epoch. */
export interface Job {
  /** Leads every key and index; the empty string is the default tenant. */
  readonly tenant: string;
  /** UUIDv7, lower case. */
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  /** Higher first, -100..100. */
  readonly priority: number;
  /** Position among jobs of the same priority: microseconds-like number made from time, unique per process. */
  readonly seq: number;

  readonly state: JobState;
  /** Sortable text; null unless the job can be claimed right now. See rank.ts. */
  readonly rank: string | null;
  /** The earliest moment at which the engine must look at this row again; null when finished. */
  readonly nextAt: number | null;
  /** Number of events the server has written for this job; also what compare-and-set compares. */
  readonly version: number;

  /** Number of claims so far; never reset. */
  readonly run: number;
  /** The OJS attempt: reset by replay, not consumed by snooze and requeue. */
  readonly attempt: number;
  readonly maxAttempts: number;

  /** Names the claim that made the current (or the last) run; with `run` it makes the lease token. */
  readonly claimId: string | null;
  readonly workerId: string | null;
  /** Length granted at the claim; heartbeats extend by it. */
  readonly leaseMs: number | null;
  readonly leaseUntil: number | null;
  /** What the last run came to; null while a run is active or before the first. */
  readonly outcome: OutcomeKind | null;

  /** Execution timeout per run. */
  readonly timeoutMs: number | null;
  /** When the current run times out. */
  readonly timeoutAt: number | null;
  /** The job's own lease length, which beats the one that a claim asks for. */
  readonly visibilityMs: number | null;

  readonly createdAt: number;
  /** When it last became available. */
  readonly enqueuedAt: number | null;
  /** Due time of a scheduled or retryable job. */
  readonly scheduledAt: number | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Not started by then: discarded. */
  readonly expiresAt: number | null;

  /** Delay before the latest retry. */
  readonly retryDelayMs: number | null;
  /** The newest failures, oldest first, at most `MAX_ERRORS_KEPT`. */
  readonly errors: readonly JobError[];
  readonly result: Json | null;
  /** Discarded and kept for repair. */
  readonly dead: boolean;

  readonly idempotencyKey: string | null;
  /** Fingerprint of the uniqueness rule. */
  readonly uniqueKey: string | null;
  /** The limit this job obeys; it is claimable only while `holdsSlot`. */
  readonly limitKey: string | null;
  readonly holdsSlot: boolean;
  /** The workflow this job is a node of. */
  readonly workflowId: string | null;
  readonly node: string | null;
  /** A finished node whose dependents have not been looked at yet; or a finished job that still holds its unique key. */
  readonly advancePending: boolean;

  readonly spec: JobSpec;
}

/** Whether it is a workflow's node with dependents to look at. */
export const isToAdvance = ({ advancePending, workflowId }: Pick<Job, 'advancePending' | 'workflowId'>): boolean =>
  advancePending && workflowId !== null;

/** Older failures are dropped so that a row stays bounded whatever its retry policy says. */
export const MAX_ERRORS_KEPT = 50;

export const lastError = (job: Job): JobError | undefined => job.errors.at(-1);
