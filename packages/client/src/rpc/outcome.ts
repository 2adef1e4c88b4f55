import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ErrorInput, Outcome } from '@waybill/core';
import type { JobErrorSchema, OutcomeSchema } from '@waybill/protocol';
import { timeOf, toValue } from './values.ts';

type RpcOutcome = MessageInitShape<typeof OutcomeSchema>;

/** The outcome of a run, as it is sent. */
export function outcomeToRpc(outcome: Outcome): RpcOutcome {
  switch (outcome.kind) {
    case 'completed':
      // Absent, it is null on the other side.
      return { kind: { case: 'completed', value: outcome.result === null ? {} : { result: toValue(outcome.result) } } };
    case 'failed':
      return { kind: { case: 'failed', value: { error: errorToRpc(outcome.error) } } };
    case 'snoozed': {
      const value = 'error' in outcome ? { error: errorToRpc(outcome.error) } : { until: timeOf(outcome.until) };
      return { kind: { case: 'snoozed', value } };
    }
    case 'requeued': {
      const { error } = outcome;
      return { kind: { case: 'requeued', value: error ? { error: errorToRpc(error) } : {} } };
    }
    case 'cancelled': {
      const { reason } = outcome;
      return { kind: { case: 'cancelled', value: reason === undefined ? {} : { reason } } };
    }
    case 'discarded': {
      const { error, deadLetter } = outcome;
      const kept = deadLetter === undefined ? {} : { deadLetter };
      return { kind: { case: 'discarded', value: { error: errorToRpc(error), ...kept } } };
    }
  }
}

function errorToRpc(error: ErrorInput): MessageInitShape<typeof JobErrorSchema> {
  const { code, message, type, retryable, retryAfterMs, details } = error;
  return {
    ...{ code, message },
    ...(type !== undefined && { type }),
    ...(retryable !== undefined && { retryable }),
    ...(retryAfterMs !== undefined && { retryAfterMs: BigInt(Math.max(0, Math.round(retryAfterMs))) }),
    ...(details !== undefined && { details: toValue(details) }),
  };
}
