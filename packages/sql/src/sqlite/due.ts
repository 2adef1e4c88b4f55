import { readEach, type UnreadableRow } from '@waybill/core';
import { type CronCells, cronOf } from './crons.ts';
import { isBusy } from './failures.ts';
import { admit } from './limits.ts';
import type { Input, Output } from './protocol.ts';
import type { Row } from './rows.ts';
import type { Session } from './session.ts';

/** First lets in what a rate held up, so that it is answered as it is then. */
export function due(session: Session, { now, limit }: Input<'due'>): Output<'due'> {
  const { sql } = session;
  const free = sql['limits-due'].all<[string, string]>(now, limit);
  const admitted = readEach(
    free,
    ([tenant, key]) => session.attempt(() => admit(session, tenant, key, now)),
    ([tenant, key]) => ({ kind: 'limit', tenant, id: key }),
  );
  const { read: rows, unreadable: damaged } = rowsDue(session, now, limit);
  const cells = sql['crons-due'].all<CronCells>(now, limit);
  const crons = readEach(cells, cronOf, ([tenant, name]) => ({ kind: 'cron', tenant, id: name }));
  const moments = sql['due-after'].get<(number | null)[]>(rows.length + damaged.length, cells.length)!;
  const later = moments.filter((moment) => moment !== null);
  return {
    rows,
    crons: crons.read,
    admitted: admitted.read.flat(),
    unreadable: [...admitted.unreadable, ...damaged, ...crons.unreadable],
    nextAt: later.length === 0 ? null : Math.min(...later),
  };
}

/** One number too large for JavaScript fails the whole statement; then the rows are read one by one. */
function rowsDue({ sql }: Session, now: number, limit: number): { read: Row[]; unreadable: UnreadableRow[] } {
  try {
    return { read: sql.due.all(now, limit), unreadable: [] };
  } catch (error) {
    if (isBusy(error)) throw error;
    const keys = sql['due-keys'].all<[string, string]>(now, limit);
    return readEach(
      keys,
      ([tenant, id]) => sql['job-by-id'].get(tenant, id)!,
      ([tenant, id]) => ({ kind: 'job', tenant, id }),
    );
  }
}
