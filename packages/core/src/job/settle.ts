import type { Json } from '../json.ts';
import { evolve, type Fact, type Transition } from './evolve.ts';
import { finish, RUN_OVER } from './finish.ts';
import { chanceOf } from './jitter.ts';
import { type Job, type JobError, lastError, MAX_ERRORS_KEPT, type OutcomeKind } from './job.ts';
import type { ErrorInput, Outcome } from './outcome.ts';
import { boundedMoment, seqAt } from './rank.ts';
import { isFinal, keepsDead, resolveRetry, retryDelayMs } from './retry-policy.ts';

/** An active run has come to an end. */
export function settle(job: Job, outcome: Outcome, now: number): Transition {
  switch (outcome.kind) {
    case 'completed': {
      const facts: Fact[] = [['job.completed', { duration_ms: now - (job.startedAt ?? now) }]];
      return finish(job, { state: 'completed', outcome: 'completed', result: outcome.result }, facts, now);
    }
    case 'failed':
      return fail(job, 'failed', outcome.error, now);
    case 'snoozed':
      return 'error' in outcome ? putAside(job, outcome.error, now) : snooze(job, outcome.until, now);
    case 'requeued': {
      // Keeps its place in the queue: it was its turn, and nothing was done.
      const patch = {
        ...RUN_OVER,
        state: 'available',
        outcome: 'requeued',
        attempt: unspent(job),
        enqueuedAt: now,
      } as const;
      return evolve(job, patch, [['job.requeued', outcome.error ? { reason: outcome.error.message } : {}]], now);
    }
    case 'cancelled': {
      const told = outcome.reason === undefined ? {} : { reason: outcome.reason };
      return finish(job, { state: 'cancelled', outcome: 'cancelled' }, [['job.cancelled', told]], now);
    }
    case 'discarded':
      return discard(job, outcome.error, now, outcome.deadLetter);
  }
}

/** Given up now, whatever attempts are left. */
export function discard(job: Job, error: ErrorInput, now: number, deadLetter?: boolean): Transition {
  const dead = deadLetter ?? keepsDead(resolveRetry(job.spec.retry), error);
  return giveUp(job, 'discarded', errorOf(job, error, now), dead, now);
}

function snooze(job: Job, asked: number, now: number): Transition {
  const until = boundedMoment(asked, now);
  const patch = { ...RUN_OVER, ...waiting(job, until), outcome: 'snoozed', attempt: unspent(job) } as const;
  return evolve(job, patch, [['job.snoozed', { until: new Date(until).toISOString() }]], now);
}

const FIRST_PAUSE_MS = 5_000;
/** A worker that can run the job may be deployed at any time, and shall not wait longer than this for it. */
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * The run could not even begin. The pause doubles with each such run in a row. Of these the row keeps the newest error
 * only, because a job may wait for weeks, and what failed before must stay readable.
 */
function putAside(job: Job, input: ErrorInput, now: number): Transition {
  const error = errorOf(job, input, now);
  const before = lastError(job);
  const isAgain = before?.code === error.code && before.run === job.run - 1;
  const longer = isAgain ? 2 * (job.retryDelayMs ?? 0) : FIRST_PAUSE_MS;
  const pauseMs = Math.max(FIRST_PAUSE_MS, Math.min(longer, LONGEST_PAUSE_MS));
  const until = boundedMoment(now + pauseMs, now);
  const patch = {
    ...RUN_OVER,
    ...waiting(job, until),
    outcome: 'snoozed',
    attempt: unspent(job),
    retryDelayMs: pauseMs,
    errors: isAgain ? [...job.errors.slice(0, -1), error] : withError(job, error),
  } as const;
  return evolve(job, patch, [['job.snoozed', { until: new Date(until).toISOString(), ...told(error) }]], now);
}

export const isPast = (moment: number | null, now: number): moment is number => moment !== null && moment <= now;

/** Settled by the server whatever the worker does; its late answer will find the lease gone. */
export function timeOut(job: Job, now: number, details?: ErrorInput['details']): Transition {
  const message = `The run exceeded its execution timeout of ${job.timeoutMs} ms.`;
  return fail(job, 'timed_out', { code: 'timeout', type: 'timeout', message, ...(details && { details }) }, now);
}

/** A failed run, whoever says so: try again later, or give up when the policy has no more to offer. */
export function fail(job: Job, kind: OutcomeKind, input: ErrorInput, now: number): Transition {
  const policy = resolveRetry(job.spec.retry);
  const error = errorOf(job, input, now);
  const isRetryable = !isFinal(policy, error);
  if (!isRetryable || isSpent(job))
    return giveUp(job, kind, error, keepsDead(policy, error), now, failed(error, isRetryable));
  const planned = retryDelayMs(policy, job.attempt, chanceOf(job.id, job.run));
  const until = boundedMoment(now + Math.max(planned, askedDelayMs(input)), now);
  const delay = until - now;
  const patch = {
    ...RUN_OVER,
    ...waiting(job, until),
    outcome: kind,
    retryDelayMs: delay,
    errors: withError(job, error),
  };
  const next = {
    ...{ next_retry_at: new Date(until).toISOString(), delay_ms: delay, max_attempts: job.maxAttempts },
    ...told(error),
  };
  return evolve(job, patch, [failed(error, isRetryable), ['job.retrying', next]], now);
}

const LONGEST_ASKED_MS = 24 * 60 * 60_000;

/** What a service asked for is kept even beyond the policy's longest delay: an earlier attempt would only be refused. */
const askedDelayMs = ({ retryAfterMs = 0 }: ErrorInput): number =>
  Number.isFinite(retryAfterMs) ? Math.min(Math.max(0, Math.round(retryAfterMs)), LONGEST_ASKED_MS) : 0;

/** The worker went silent. The work may have been done, so the attempt counts; the job goes back at once. */
export function lose(job: Job, now: number): Transition {
  const error = errorOf(
    job,
    { code: 'visibility_timeout', message: 'The lease ran out before the run was settled.' },
    now,
  );
  const fact: Fact = ['job.lease_expired', job.workerId === null ? {} : { worker_id: job.workerId }];
  if (isSpent(job)) return giveUp(job, 'lost', error, keepsDead(resolveRetry(job.spec.retry), error), now, fact);
  const patch = {
    ...RUN_OVER,
    state: 'available',
    outcome: 'lost',
    enqueuedAt: now,
    errors: withError(job, error),
  } as const;
  return evolve(job, patch, [fact, ['job.enqueued']], now);
}

export function giveUp(
  job: Job,
  outcome: OutcomeKind,
  error: JobError,
  dead: boolean,
  now: number,
  first?: Fact,
): Transition {
  const end = { state: 'discarded', outcome, dead, errors: withError(job, error) } as const;
  const gone: Fact = [
    'job.discarded',
    { total_attempts: job.attempt, dead_letter: dead, last_error: told(error).error! },
  ];
  return finish(job, end, [first ?? failed(error, false), gone], now);
}

const isSpent = (job: Job): boolean => job.attempt >= job.maxAttempts;

const unspent = (job: Job): number => Math.max(0, job.attempt - 1);

/** A retryable job stands in line by the time it is due. */
export const waiting = (job: Job, until: number) =>
  ({ state: 'retryable', scheduledAt: until, seq: seqAt(until, job.seq) }) as const;

export function errorOf(job: Job, { details, retryAfterMs: _, ...input }: ErrorInput, now: number): JobError {
  const kept = details === undefined ? {} : { details: bounded(details) };
  return { ...input, ...kept, attempt: job.attempt, run: job.run, occurredAt: now };
}

const MAX_DETAILS = 8_192;

/** Fifty failures are kept, so each must be small; what is cut off says so. */
function bounded(details: Json): Json {
  const length = JSON.stringify(details).length;
  return length <= MAX_DETAILS ? details : { truncated: true, length };
}

const withError = (job: Job, error: JobError): JobError[] => [...job.errors, error].slice(-MAX_ERRORS_KEPT);

/** Events tell which error, not its details: those may be large and stay in the row. */
const told = ({ code, message, type }: JobError) => ({
  error: { code, message, ...(type === undefined ? {} : { type }) },
});

/** Whoever counts failures wants to know which of them were final; the specification demands the word. */
const failed = (error: JobError, retryable: boolean): Fact => [
  'job.failed',
  { error: { ...told(error).error, retryable } },
];
