import type { ErrorCode } from '../../errors.ts';
import type { Told } from '../../events/subject-event.ts';
import { withoutSecrets } from '../../secret-text.ts';

/** Who did what. It never holds what a call carried: no bodies, args or secrets. */
export interface AuditEntry {
  /** The id of the principal, such as that of its key. */
  principal: string;
  /** What people call the principal, such as the name of its key. */
  name?: string;
  /** A group and a call of the port, such as `queues.pause`; or another name of that form, such as `sessions.start`. */
  action: string;
  /** The name or id of what the call was about. Absent where it was about many things, or none. */
  target?: string;
  /** What the call came to: `ok`, or why it was refused. */
  outcome: 'ok' | ErrorCode;
  /** The request that the call came with. */
  requestId?: string;
  /** Where the request came from. */
  address?: string;
}

/** Long enough for every id, and short enough for a key of every store. */
const MOST_LETTERS = 200;

export const auditRecorded = (entry: AuditEntry, { tenant, at }: { tenant: string; at: number }): Told => {
  const { principal, name, action, target, outcome, requestId, address } = entry;
  return {
    ...{ type: 'audit.recorded', tenant, subject: shown(principal), at },
    data: {
      action: shown(action),
      target: target === undefined ? null : shown(target),
      outcome,
      ...(name !== undefined && { name: shown(name) }),
      ...(requestId !== undefined && { request_id: shown(requestId) }),
      ...(address !== undefined && { address: shown(address) }),
    },
  };
};

/** A caller may give anything as an id, be it the secret of a key, and what is no character at all. */
const shown = (text: string): string =>
  withoutSecrets(text.toWellFormed().slice(0, MOST_LETTERS * 4))
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, MOST_LETTERS)
    .toWellFormed() || '-';
