import { auditToWire } from '@waybill/client';
import { type AuditQuery, readAudit } from '@waybill/core';
import { answer } from '../http/answer.ts';
import type { App } from '../http/env.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';

const PARAMETERS = ['since', 'principal', 'action', 'limit', 'cursor'] as const;
const DEFAULT_LIMIT = 100;

/** Who did what, oldest first. The cursor also goes on from the end, for whoever asks again later. */
export function auditRoutes(app: App): void {
  app.get('/waybill/v1/audit', async (c) => {
    const query = new Query(c, PARAMETERS);
    const { limit, cursor: after } = query.page(DEFAULT_LIMIT);
    const [since, principal, action] = [query.moment('since'), query.string('principal'), query.string('action')];
    const asked: AuditQuery = {
      ...(since !== undefined && { since }),
      ...(principal !== undefined && { principal }),
      ...(action !== undefined && { action }),
    };
    const { events, cursor, atEnd, missed } = await readAudit(portOf(c).events, asked, { after, limit });
    return answer(c, { audit: events.map(auditToWire), cursor, has_more: !atEnd, ...(missed && { missed }) });
  });
}
