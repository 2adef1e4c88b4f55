import { jsonOf, msOf } from '@waybill/client/rpc';
import { type ErrorInput, Fields, invalidField, type Outcome } from '@waybill/core';
import type { JobError, Outcome as RpcOutcome } from '@waybill/protocol';
import { checkSnooze, readRunError } from '../../ojs/settle.ts';

/** The outcome of a run, as its worker reports it. */
export function outcomeFromRpc(outcome: RpcOutcome | undefined, field: string): Outcome {
  const kind = outcome?.kind;
  switch (kind?.case) {
    case undefined:
      throw invalidField(field, 'is required: report the outcome of the run.');
    case 'completed': {
      const { result } = kind.value;
      return { kind: 'completed', result: result ? jsonOf(result, `${field}.completed.result`) : null };
    }
    case 'failed':
      return { kind: 'failed', error: errorFromRpc(kind.value.error, `${field}.failed.error`) };
    case 'snoozed': {
      const { until, error } = kind.value;
      if (until && error) throw invalidField(`${field}.snoozed.error`, `does not go with 'until'.`);
      if (error) return { kind: 'snoozed', error: errorFromRpc(error, `${field}.snoozed.error`) };
      if (!until) throw invalidField(`${field}.snoozed.until`, 'or an error is required.');
      const name = `${field}.snoozed.until`;
      return { kind: 'snoozed', until: checkSnooze(name, msOf(until, name)) };
    }
    case 'requeued': {
      const { error } = kind.value;
      return { kind: 'requeued', ...(error && { error: errorFromRpc(error, `${field}.requeued.error`) }) };
    }
    case 'cancelled': {
      const { reason } = kind.value;
      return reason === undefined ? { kind: 'cancelled' } : { kind: 'cancelled', reason };
    }
    case 'discarded': {
      const { error, deadLetter } = kind.value;
      const given = errorFromRpc(error, `${field}.discarded.error`);
      return { kind: 'discarded', error: given, ...(deadLetter !== undefined && { deadLetter }) };
    }
  }
}

/** Read as the HTTP interface reads one, so that retry policies see no difference. */
export function errorFromRpc(error: JobError | undefined, field: string): ErrorInput {
  if (!error) return readRunError(new Fields({}, field));
  const { code, message, type, retryable, retryAfterMs, details } = error;
  const sent = {
    ...(code !== '' && { code }),
    message,
    ...(type !== '' && { type }),
    ...(retryable !== undefined && { retryable }),
    ...(retryAfterMs !== undefined && { retry_after_ms: Number(retryAfterMs) }),
    ...(details && { details: jsonOf(details, `${field}.details`) }),
  };
  return readRunError(new Fields(sent, field));
}
