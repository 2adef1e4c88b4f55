import type { ErrorInput, SettleCall } from '@waybill/core';
import { toRfc3339 } from '../time.ts';

/** How each outcome travels: the specification has words for three, and `nack` takes the others as an extension. */
export function settlePath({ outcome }: SettleCall): string {
  return `/ojs/v1/workers/${outcome.kind === 'completed' ? 'ack' : 'nack'}`;
}

export function settleBody(call: SettleCall): object {
  return { job_id: call.id, lease_token: call.leaseToken, worker_id: call.workerId, ...told(call) };
}

function told({ outcome }: SettleCall): object {
  switch (outcome.kind) {
    case 'completed':
      return { result: outcome.result };
    case 'failed':
      return { error: errorToWire(outcome.error) };
    case 'requeued':
      return { requeue: true, error: outcome.error && errorToWire(outcome.error) };
    case 'snoozed':
      if ('error' in outcome) return { outcome: 'snoozed', error: errorToWire(outcome.error) };
      return { outcome: 'snoozed', snooze_until: toRfc3339(outcome.until) };
    case 'cancelled':
      return { outcome: 'cancelled', reason: outcome.reason };
    case 'discarded':
      return { outcome: 'discarded', error: errorToWire(outcome.error), dead_letter: outcome.deadLetter };
  }
}

const errorToWire = ({ retryAfterMs, ...error }: ErrorInput): object => ({
  ...error,
  ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
});
