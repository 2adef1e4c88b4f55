import { type CronCells, cronOf } from './crons.ts';
import { admit } from './limits.ts';
import type { Input, Output } from './protocol.ts';
import type { Session } from './session.ts';

/** First lets in what a rate held up, so that it is answered as it is then. */
export function due(session: Session, { now, limit }: Input<'due'>): Output<'due'> {
  const { sql } = session;
  const free = sql['limits-due'].all<[string, string]>(now, limit);
  const admitted = free.flatMap(([tenant, key]) => admit(session, tenant, key, now));
  const rows = sql.due.all(now, limit);
  const crons = sql['crons-due'].all<CronCells>(now, limit).map(cronOf);
  const moments = sql['due-after'].get<(number | null)[]>(rows.length, crons.length)!;
  const later = moments.filter((moment) => moment !== null);
  return { rows, crons, admitted, nextAt: later.length === 0 ? null : Math.min(...later) };
}
