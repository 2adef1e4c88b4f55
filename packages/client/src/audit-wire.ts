import type { LoggedEvent } from '@waybill/core';
import { toRfc3339 } from './time.ts';

/** An entry of the audit: who did what, to what, and what came of it. */
export interface WireAudit {
  time: string;
  /** The id of the caller, such as that of its key. */
  principal: string;
  /** What people call the caller, such as the name of its key when the call was made. */
  name?: string;
  /** `queues.pause`, .. */
  action: string;
  /** Null where the call was about many things, or none. */
  target: string | null;
  /** `ok`, or the code of the refusal. */
  outcome: string;
  request_id?: string;
  address?: string;
  /** Continues right behind this entry. */
  cursor: string;
}

/** Of an event `audit.recorded`. */
export function auditToWire({ at, subject = '', data, cursor }: LoggedEvent): WireAudit {
  const { action, target, outcome, name, request_id, address } = data;
  return {
    ...{ time: toRfc3339(at), principal: subject, action: String(action) },
    ...{ target: typeof target === 'string' ? target : null, outcome: String(outcome) },
    ...(typeof name === 'string' && { name }),
    ...(typeof request_id === 'string' && { request_id }),
    ...(typeof address === 'string' && { address }),
    cursor,
  };
}
