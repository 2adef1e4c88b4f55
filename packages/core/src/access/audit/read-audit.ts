import type { LoggedEvent } from '../../events/job-event.ts';
import type { Events } from '../../waybill.ts';

export const AUDIT_TYPES = ['audit.recorded'] as const;

export interface AuditQuery {
  /** Or `ALL_TENANTS`, for an operator. */
  tenant?: string;
  /** Only what happened from this moment on. */
  since?: number;
  principal?: string;
  /** `queues.pause`, or `queues.` for all calls of a group. */
  action?: string;
}

export interface AuditPage {
  events: LoggedEvent[];
  /** Goes on behind everything that was looked at. */
  cursor: string;
  atEnd: boolean;
  missed: boolean;
}

/** How much of the log one call looks through: between two entries there may be millions of events of jobs. */
const MOST_SLICES = 50;
const SLICE = 1_000;

/** Entries of the audit, oldest first. A page may be short or empty before the end: then go on behind its cursor. */
export async function readAudit(
  events: Pick<Events, 'read'>,
  query: AuditQuery,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<AuditPage> {
  const filter = { types: AUDIT_TYPES, ...(query.tenant !== undefined && { tenant: query.tenant }) };
  const found: LoggedEvent[] = [];
  let cursor = after;
  let missed = false;
  for (let slice = 0; ; slice += 1) {
    const page = await events.read({ filter, limit: SLICE, ...(cursor !== undefined && { after: cursor }) });
    missed ||= page.missed;
    for (const event of page.events) {
      if (!auditMatches(event, query)) continue;
      found.push(event);
      if (found.length === limit) {
        const isLast = page.atEnd && event === page.events.at(-1);
        return { events: found, cursor: isLast ? page.cursor : event.cursor, atEnd: isLast, missed };
      }
    }
    cursor = page.cursor;
    if (page.atEnd || slice === MOST_SLICES) return { events: found, cursor, atEnd: page.atEnd, missed };
  }
}

export function auditMatches(event: LoggedEvent, { since, principal, action }: AuditQuery): boolean {
  if (since !== undefined && event.at < since) return false;
  if (principal !== undefined && event.subject !== principal) return false;
  const done = event.data['action'];
  return action === undefined || done === action || (action.endsWith('.') && String(done).startsWith(action));
}
