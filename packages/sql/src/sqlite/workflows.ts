import { transition } from '@waybill/core';
import { encodeEvent } from './event-codec.ts';
import { admit } from './limits.ts';
import type { Input } from './protocol.ts';
import { AT, fromRow, mutableCells, type Row } from './rows.ts';
import type { Session } from './session.ts';

export function advance(session: Session, { tenant, parent, now }: Input<'advance'>): Row[] {
  const { sql } = session;
  const row = sql['job-by-id'].get(tenant, parent);
  const dispatched: Row[] = [];
  if (row?.[AT.state] === 'completed') {
    for (const [child] of sql['remove-edges'].all<[string]>(tenant, parent)) {
      const activated = activate(session, tenant, child, now);
      if (activated) dispatched.push(activated);
    }
  }
  sql.advanced.run(tenant, parent);
  return dispatched;
}

/** Makes a child available that waits for nobody any more. */
function activate(session: Session, tenant: string, id: string, now: number): Row | null {
  const { sql } = session;
  if (sql['has-edges'].get<[number]>(tenant, id)?.[0] === 1) return null;
  const before = sql['job-by-id'].get(tenant, id);
  const after = before && transition(fromRow(before), { do: 'activate' }, now);
  if (!after) return null;
  const { job, events } = after;
  sql['apply-by-version'].run(...mutableCells(job), tenant, id, before[AT.version], before[AT.nextAt]);
  session.log(events.map(encodeEvent), now);
  if (job.rank !== null) session.wake(job.queue);
  if (job.limitKey !== null) admit(session, tenant, job.limitKey);
  return sql['job-by-id'].get(tenant, id) ?? null;
}
