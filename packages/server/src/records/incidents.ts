import {
  CHECK_FIELDS,
  checkQueue,
  INCIDENT_EVENTS,
  INCIDENT_KIND,
  INCIDENT_SEVERITIES,
  incidentFact,
  invalidField,
  type JsonObject,
} from '@waybill/core';
import type { RecordKind } from './record-kind.ts';

const STATUSES = ['open', 'closed'] as const;

/** Something that people deal with, and that whoever watches the log should know of. The health checks open some. */
export const incidents: RecordKind = {
  kind: INCIDENT_KIND,
  plural: 'incidents',
  events: INCIDENT_EVENTS,
  fields: ['title', 'severity', 'status', 'queue', 'note'],
  example: { title: 'Mails are late', severity: 'high', queue: 'mail' },
  read: (body, { before }) => {
    const severity = body.oneOf('severity', INCIDENT_SEVERITIES);
    if (severity === undefined) throw invalidField('severity', 'is required.', { allowed: INCIDENT_SEVERITIES });
    const [queue, note] = [body.string('queue'), body.string('note', { max: 10_000 })];
    return {
      ...checkedPart(before),
      title: body.requiredString('title'),
      severity,
      status: body.oneOf('status', STATUSES) ?? 'open',
      ...(queue !== undefined && { queue: checkQueue(queue, 'queue') }),
      ...(note !== undefined && { note }),
    };
  },
  fact: incidentFact,
};

/** What a check has written: by that it finds its incident again. */
const checkedPart = (before: JsonObject | null): JsonObject =>
  before === null
    ? {}
    : Object.fromEntries(CHECK_FIELDS.flatMap((name) => (name in before ? [[name, before[name]!]] : [])));
