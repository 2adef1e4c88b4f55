import { type ExtendAnswer, type ExtendRequest, fenceAdmits, heartbeatEvent, transition } from '@waybill/core';
import { encodeEvent } from '../event-codec.ts';
import type { Input } from './protocol.ts';
import { headOf } from './rows.ts';
import type { Session } from './session.ts';

export function extend(session: Session, requests: Input<'extend'>): ExtendAnswer[] {
  return requests.map((request) => extendOne(session, request));
}

function extendOne(session: Session, { tenant, id, by, leaseMs, now, isTold }: ExtendRequest): ExtendAnswer {
  const { sql } = session;
  const row = sql['job-by-id'].get(tenant, id);
  const job = row && headOf(row);
  const after = job && fenceAdmits(job, by) ? transition(job, { do: 'extend', leaseMs }, now) : null;
  if (after === null || after.job.leaseUntil === null) return { status: 'lost' };
  const { leaseUntil, nextAt } = after.job;
  sql['extend-job'].run(leaseUntil, nextAt, tenant, id);
  const event = isTold ? heartbeatEvent(job!, leaseUntil, now) : null;
  if (event) session.log([encodeEvent(event)], now);
  return { status: 'extended', leaseUntil };
}
