import { createHash } from 'node:crypto';
import type { JsonObject } from '../../json.ts';
import type { RecordFact } from '../../waybill.ts';
import type { Finding } from '../checks-port.ts';

/** A kind of record. People open incidents too; those of the checks have a `check`. */
export const INCIDENT_KIND = 'incident';

/** From the mildest on. */
export const INCIDENT_SEVERITIES = ['low', 'warning', 'high', 'critical'] as const;
export type IncidentSeverity = (typeof INCIDENT_SEVERITIES)[number];

export const INCIDENT_EVENTS = [
  'incident.opened',
  'incident.changed',
  'incident.escalated',
  'incident.closed',
] as const;

const LONGEST_ID = 200;
/** What a path of the HTTP interface may hold. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;

/** The same for the same subject, on whichever server: so there is one incident about it. */
export function incidentIdOf({ check, subject }: Pick<Finding, 'check' | 'subject'>): string {
  const id = `${check}:${subject}`;
  if (id.length <= LONGEST_ID && PLAIN.test(id)) return id;
  return `${check}:${createHash('sha256').update(subject).digest('hex')}`;
}

export const isOpen = (value: JsonObject): boolean => value['status'] === 'open';

/** The fields of an incident that a check has opened. People who change it keep them. */
export const CHECK_FIELDS = ['check', 'subject', 'job_id', 'facts', 'opened_at', 'closed_at'] as const;

export function openIncident(
  { check, subject, severity, title, queue, jobId, facts }: Finding,
  at: number,
): JsonObject {
  return {
    ...{ title, severity, status: 'open' },
    ...(queue !== undefined && { queue }),
    ...{ check, subject, facts, opened_at: new Date(at).toISOString() },
    ...(jobId !== undefined && { job_id: jobId }),
  };
}

/** What changes while it is open. What people have written stays. */
export const escalated = (value: JsonObject, { severity, title, facts }: Finding): JsonObject => ({
  ...value,
  ...{ severity, title, facts },
});

export const closed = (value: JsonObject, at: number): JsonObject => ({
  ...value,
  ...{ status: 'closed', closed_at: new Date(at).toISOString() },
});

const rankOf = (severity: unknown): number => INCIDENT_SEVERITIES.indexOf(severity as IncidentSeverity);

export const isWorse = (severity: unknown, than: unknown): boolean => rankOf(severity) > rankOf(than);

/** What the log says of a change, null standing for no record. One that was removed is over. */
export function incidentFact(before: JsonObject | null, after: JsonObject | null): RecordFact {
  const [wasOpen, isOpenNow] = [before !== null && isOpen(before), after !== null && isOpen(after)];
  if (before === null) return { type: 'incident.opened', data: after! };
  if (wasOpen && !isOpenNow) return { type: 'incident.closed', data: after ?? { ...before, status: 'closed' } };
  // A check has found the same again.
  if (!wasOpen && isOpenNow && before['check'] !== undefined) return { type: 'incident.opened', data: after! };
  const isEscalated = isOpenNow && isWorse(after!['severity'], before['severity']);
  const type = isEscalated ? 'incident.escalated' : 'incident.changed';
  return { type, data: after ?? { ...before, status: 'closed' } };
}
