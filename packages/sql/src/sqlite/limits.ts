import { type LimitInfo, rankFor } from '@waybill/core';
import type { Input } from './protocol.ts';
import { AT, headOf, type Row } from './rows.ts';
import type { Session } from './session.ts';

/** Gives every free slot of a limit to the parked jobs that stand first in line; answers their rows. */
export function admit(session: Session, tenant: string, key: string): Row[] {
  const { sql } = session;
  const admitted: Row[] = [];
  while (sql['limit-take'].run(tenant, key).changes !== 0) {
    const row = sql['parked-oldest'].get(tenant, key);
    if (row === undefined) {
      sql['limit-count'].run(tenant, key, -1);
      break;
    }
    row[AT.holdsSlot] = 1;
    row[AT.rank] = rankFor(headOf(row));
    sql.admit.run(tenant, row[AT.id], row[AT.rank]);
    session.wake(row[AT.queue]);
    admitted.push(row);
  }
  return admitted;
}

/** Keeps the number of holders true when a job's row is written. `before` and `after`: whether it holds a slot. */
export function countHolder({ sql }: Session, tenant: string, key: string, before: number, after: number): void {
  if (before !== after) sql['limit-count'].run(tenant, key, after - before);
}

export function setLimit(session: Session, { tenant, key, concurrency }: Input<'setLimit'>): { admitted: number } {
  session.sql['limit-set'].run(tenant, key, concurrency);
  return { admitted: admit(session, tenant, key).length };
}

export function getLimit({ sql }: Session, { tenant, key }: Input<'getLimit'>): LimitInfo | null {
  const found = sql['limit-get'].get<[number, number]>(tenant, key);
  return found ? { tenant, key, concurrency: found[0], holders: found[1] } : null;
}
