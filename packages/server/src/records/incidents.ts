import { checkQueue, invalidField, type JsonObject } from '@waybill/core';
import type { RecordKind } from './record-kind.ts';

declare module '@waybill/core' {
  interface RecordEvents {
    'incident.opened': true;
    'incident.changed': true;
    'incident.closed': true;
  }
}

const SEVERITIES = ['low', 'high', 'critical'] as const;
const STATUSES = ['open', 'closed'] as const;

/** Something that people deal with, and that whoever watches the log should know of. */
export const incidents: RecordKind = {
  kind: 'incident',
  plural: 'incidents',
  events: ['incident.opened', 'incident.changed', 'incident.closed'],
  fields: ['title', 'severity', 'status', 'queue', 'note'],
  example: { title: 'Mails are late', severity: 'high', queue: 'mail' },
  read: (body) => {
    const severity = body.oneOf('severity', SEVERITIES);
    if (severity === undefined) throw invalidField('severity', 'is required.', { allowed: SEVERITIES });
    const [queue, note] = [body.string('queue'), body.string('note', { max: 10_000 })];
    return {
      title: body.requiredString('title'),
      severity,
      status: body.oneOf('status', STATUSES) ?? 'open',
      ...(queue !== undefined && { queue: checkQueue(queue, 'queue') }),
      ...(note !== undefined && { note }),
    };
  },
  fact: (before, after) => {
    if (before === null) return { type: 'incident.opened', data: after! };
    const isOver = isClosed(after) && !isClosed(before);
    return { type: isOver ? 'incident.closed' : 'incident.changed', data: after ?? { ...before, status: 'closed' } };
  },
};

/** One that was removed is over too. */
const isClosed = (value: JsonObject | null): boolean => value === null || value['status'] === 'closed';
