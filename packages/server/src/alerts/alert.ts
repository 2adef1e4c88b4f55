import {
  ALL_TENANTS,
  INCIDENT_SEVERITIES,
  type IncidentSeverity,
  isObject,
  type JsonObject,
  type LoggedEvent,
  type Sink,
} from '@waybill/core';

/** What alerts are made of; other changes of an incident are told to nobody. */
const TYPES = ['incident.opened', 'incident.escalated', 'incident.closed'] as const;

/** Of all tenants: the operator has set them up. */
export const OF_INCIDENTS = { filter: { types: TYPES }, of: ALL_TENANTS } satisfies Partial<Sink>;

/** Who waits for an alert that is older than this knows of it otherwise. */
const OUTDATED_AFTER_MS = 86_400_000;

/** One thing to tell of an incident. */
export interface Alert {
  kind: 'opened' | 'escalated' | 'closed';
  incident: string;
  tenant: string;
  title: string;
  severity: IncidentSeverity;
  at: number;
  queue?: string;
  check?: string;
  openedAt?: string;
  facts: JsonObject;
}

/** Null: nothing is to be told. */
export function alertOf(event: LoggedEvent, { from, now }: { from: IncidentSeverity; now: number }): Alert | null {
  const { type, subject, tenant, at, data } = event;
  if (subject === undefined || !(TYPES as readonly string[]).includes(type) || now - at > OUTDATED_AFTER_MS)
    return null;
  const severity = INCIDENT_SEVERITIES.find((one) => one === data['severity']) ?? 'critical';
  if (INCIDENT_SEVERITIES.indexOf(severity) < INCIDENT_SEVERITIES.indexOf(from)) return null;
  const { title, queue, check, opened_at: openedAt, facts } = data;
  return {
    kind: type.slice('incident.'.length) as Alert['kind'],
    ...{ incident: subject, tenant, severity, at },
    title: typeof title === 'string' ? title : subject,
    ...(typeof queue === 'string' && { queue }),
    ...(typeof check === 'string' && { check }),
    ...(typeof openedAt === 'string' && { openedAt }),
    facts: isObject(facts) ? facts : {},
  };
}

/** An event as `test-fire` sends it; the log has none like it. */
export const testEvent = (at: number): LoggedEvent => ({
  ...{ type: 'incident.opened', tenant: '', subject: 'test-fire', source: 'server', sequence: at, at, cursor: '' },
  data: {
    title: 'This is a test alert of Waybill. Nothing is wrong.',
    ...{ severity: 'critical', status: 'open', check: 'test-fire', facts: {}, opened_at: new Date(at).toISOString() },
  },
});
