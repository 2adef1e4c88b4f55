import type { Input, Output } from './protocol.ts';
import type { Session } from './session.ts';

export function due({ sql }: Session, { now, limit }: Input<'due'>): Output<'due'> {
  const rows = sql.due.all(now, limit);
  return { rows, nextAt: sql['due-after'].get<[number]>(rows.length)?.[0] ?? null };
}
