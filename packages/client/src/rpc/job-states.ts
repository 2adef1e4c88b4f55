import { invalidField, JOB_STATES, type JobState } from '@waybill/core';
import { JobState as RpcState } from '@waybill/protocol';

/** The one translation of exact states into the five of the RPC interface. */
const TABLE: Readonly<Record<JobState, RpcState>> = {
  scheduled: RpcState.SCHEDULED,
  available: RpcState.SCHEDULED,
  pending: RpcState.SCHEDULED,
  retryable: RpcState.SCHEDULED,
  active: RpcState.RUNNING,
  completed: RpcState.COMPLETED,
  discarded: RpcState.FAILED,
  cancelled: RpcState.CANCELLED,
};

export const stateToRpc = (state: JobState): RpcState => TABLE[state];

/** The exact states that one of the five stands for; undefined where none was named. */
export function statesFromRpc(state: RpcState, field: string): JobState[] | undefined {
  if (state === RpcState.UNSPECIFIED) return undefined;
  const states = JOB_STATES.filter((exact) => TABLE[exact] === state);
  if (states.length > 0) return states;
  throw invalidField(field, `must be one of the states that the protocol names, not ${Number(state)}.`);
}
