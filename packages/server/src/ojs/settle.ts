import { classIn } from '@waybill/client';
import { type ErrorInput, Fields, invalidField, type SettleCall } from '@waybill/core';
import type { Surface } from '../surface.ts';
import { jobIdOf, leaseTokenOf, workerIdOf } from './fields.ts';

type Rules = Pick<Surface, 'requireLease'>;

/** More says no more, and a failure must be recorded even when the worker talks too much: it is cut, not refused. */
const MAX_MESSAGE = 10_000;

export function readAck(body: Fields, rules: Rules): SettleCall {
  return { ...readRun(body, rules), outcome: { kind: 'completed', result: body.value('result') ?? null } };
}

export function readNack(body: Fields, rules: Rules): SettleCall {
  const run = readRun(body, rules);
  const error = readError(body.fields('error') ?? new Fields({}));
  const outcome = body.boolean('requeue') ? 'requeued' : 'failed';
  return { ...run, outcome: { kind: outcome, error } };
}

/** Which run the worker speaks for. */
function readRun(body: Fields, { requireLease }: Rules): Omit<SettleCall, 'outcome'> {
  const run = { id: jobIdOf(body, 'job_id'), ...leaseTokenOf(body), ...workerIdOf(body) };
  if (requireLease && run.leaseToken === undefined) {
    throw invalidField('lease_token', 'is required by this server: send the one that the fetch answered.');
  }
  return run;
}

function readError(error: Fields): ErrorInput {
  const details = error.value('details');
  // The retry policy and the dead-letter filters go by `type`, so it is settled here and not only when shown.
  const type = error.string('type', { max: 255 }) ?? classIn(details);
  const retryable = error.boolean('retryable');
  return {
    code: error.string('code', { max: 255 }) || 'handler_error',
    message: (error.string('message', { max: Number.POSITIVE_INFINITY }) ?? '').slice(0, MAX_MESSAGE),
    ...(type !== undefined && { type }),
    ...(retryable !== undefined && { retryable }),
    ...(details !== undefined && { details }),
  };
}
