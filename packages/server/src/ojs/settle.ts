import { classIn } from '@waybill/client';
import { type ErrorInput, Fields, invalidField, type Outcome, type SettleCall } from '@waybill/core';
import { readMoment } from '../http/moment.ts';
import type { Surface } from '../surface.ts';
import { jobIdOf, leaseTokenOf, workerIdOf } from './fields.ts';

type Rules = Pick<Surface, 'requireLease'>;

/** More says no more, and a failure must be recorded even when the worker talks too much: it is cut, not refused. */
const MAX_MESSAGE = 10_000;

/** Later ones would make sequence numbers that do not fit; jobs cannot be scheduled later either. */
const LATEST = Date.UTC(2250, 0, 1);

/** What the specification's `nack` has no word for, and the fields that go with each. */
const OUTCOMES = {
  snoozed: ['snooze_until', 'error'],
  cancelled: ['reason'],
  discarded: ['dead_letter', 'error'],
} as const;
const OUTCOME_KINDS = ['snoozed', 'cancelled', 'discarded'] as const;
const OUTCOME_FIELDS = ['snooze_until', 'reason', 'dead_letter'] as const;

export function readAck(body: Fields, rules: Rules): SettleCall {
  return { ...readRun(body, rules), outcome: { kind: 'completed', result: body.value('result') ?? null } };
}

export function readNack(body: Fields, rules: Rules): SettleCall {
  const run = readRun(body, rules);
  const kind = body.oneOf('outcome', OUTCOME_KINDS);
  const requeue = body.boolean('requeue');
  const allowed: readonly string[] = kind === undefined ? ['error', 'requeue'] : OUTCOMES[kind];
  const stray = [...OUTCOME_FIELDS, 'error', 'requeue'].find((name) => body.has(name) && !allowed.includes(name));
  // Taken for something else than what was meant, an outcome would end a job that should go on, or the reverse.
  if (stray !== undefined)
    throw invalidField(stray, kind ? `does not go with the outcome ${kind}.` : `needs an 'outcome' to go with.`);
  if (kind !== undefined) return { ...run, outcome: readOutcome(kind, body) };
  const sent = body.fields('error');
  if (requeue) return { ...run, outcome: { kind: 'requeued', ...(sent && { error: readRunError(sent) }) } };
  return { ...run, outcome: { kind: 'failed', error: readRunError(sent ?? new Fields({})) } };
}

function readOutcome(kind: (typeof OUTCOME_KINDS)[number], body: Fields): Outcome {
  switch (kind) {
    case 'snoozed': {
      const error = body.fields('error');
      if (error && !body.has('snooze_until')) return { kind, error: readRunError(error) };
      if (error) throw invalidField('error', `does not go with 'snooze_until': with a reason, the server says when.`);
      const until = readMoment('snooze_until', body.string('snooze_until'));
      if (until === undefined) throw invalidField('snooze_until', 'or an error is required with the outcome snoozed.');
      return { kind, until: checkSnooze('snooze_until', until) };
    }
    case 'cancelled': {
      const reason = body.string('reason');
      return reason === undefined ? { kind } : { kind, reason };
    }
    case 'discarded': {
      const error = readRunError(body.fields('error') ?? new Fields({}));
      const deadLetter = body.boolean('dead_letter');
      return deadLetter === undefined ? { kind, error } : { kind, error, deadLetter };
    }
  }
}

export function checkSnooze(field: string, until: number): number {
  if (until >= 0 && until <= LATEST) return until;
  throw invalidField(field, 'must lie between the years 1970 and 2250.');
}

/** Which run the worker speaks for. */
function readRun(body: Fields, { requireLease }: Rules): Omit<SettleCall, 'outcome'> {
  return { id: jobIdOf(body, 'job_id'), ...leaseTokenOf(body, requireLease), ...workerIdOf(body) };
}

export function readRunError(error: Fields): ErrorInput {
  const details = error.value('details');
  // The retry policy and the dead-letter filters go by `type`, so it is settled here and not only when shown.
  const type = error.string('type', { max: 255 }) ?? classIn(details);
  const retryable = error.boolean('retryable');
  const retryAfterMs = error.integer('retry_after_ms', { min: 0, max: Number.MAX_SAFE_INTEGER });
  return {
    code: error.string('code', { max: 255 }) || 'handler_error',
    message: (error.string('message', { max: Number.POSITIVE_INFINITY }) ?? '').slice(0, MAX_MESSAGE),
    ...(type !== undefined && { type }),
    ...(retryable !== undefined && { retryable }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(details !== undefined && { details }),
  };
}
