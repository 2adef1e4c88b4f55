import { type ExtendAnswer, type ExtendRequest, speaksFor, transition } from '@waybill/core';
import type { Input } from './protocol.ts';
import { headOf } from './rows.ts';
import type { Session } from './session.ts';

export function extend(session: Session, requests: Input<'extend'>): ExtendAnswer[] {
  return requests.map((request) => extendOne(session, request));
}

function extendOne({ sql }: Session, { tenant, id, by, leaseMs, now }: ExtendRequest): ExtendAnswer {
  const row = sql['job-by-id'].get(tenant, id);
  const job = row && headOf(row);
  const after = job && speaksFor(job, by) ? transition(job, { do: 'extend', leaseMs }, now) : null;
  if (after === null || after.job.leaseUntil === null) return { status: 'lost' };
  const { leaseUntil, nextAt } = after.job;
  sql['extend-job'].run(leaseUntil, nextAt, tenant, id);
  return { status: 'extended', leaseUntil };
}
