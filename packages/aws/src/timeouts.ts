import { invalidField } from '@waybill/core';

/** How long a client waits for AWS. docs/aws.md, "When AWS does not answer", states what follows from these figures. */
export interface ClientTimeouts {
  /** Until a connection is open. @defaultValue 2000 */
  connectMs?: number;
  /**
   * One request with its answer. A second more for each 64 KB of the answer that have come, or of the payload that is
   * sent to S3. A long poll of SQS gets its own wait on top. @defaultValue 4000
   */
  requestMs?: number;
  /**
   * One call with its repetitions. No repetition begins that could end later, so a call to a service that does not
   * answer fails within this time. @defaultValue 10000
   */
  callMs?: number;
}

export type Timeouts = Required<ClientTimeouts>;

/**
 * A worker sends a heartbeat 20 s into a lease of 30 s. A connection that has died costs it one request, and the second
 * one, over a new connection, still comes well before the lease ends.
 */
const DEFAULTS: Timeouts = { connectMs: 2_000, requestMs: 4_000, callMs: 10_000 };

/** Node's timers take no more, and fire at once where they are given more. */
const LONGEST_MS = 2 ** 31 - 1;

export function timeoutsOf(told: ClientTimeouts = {}): Timeouts {
  const timeouts = { ...DEFAULTS, ...told };
  for (const [name, value] of Object.entries(timeouts)) {
    if (!(value > 0 && value <= LONGEST_MS)) {
      throw invalidField(`timeouts.${name}`, `must be a number of milliseconds above 0 and up to ${LONGEST_MS}`);
    }
  }
  if (timeouts.callMs < timeouts.requestMs) {
    throw invalidField('timeouts.callMs', `must be at least requestMs, which is ${timeouts.requestMs}`);
  }
  return timeouts;
}

/** Requests that fit into one call, one after the other. */
export const triesIn = ({ callMs, requestMs }: Timeouts): number => Math.floor(callMs / requestMs);
