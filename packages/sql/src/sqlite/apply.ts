import { admit, countHolder } from './limits.ts';
import type { ApplyReply, ChangeMessage, Input } from './protocol.ts';
import type { MutableCells, Row } from './rows.ts';
import type { Session } from './session.ts';

export function apply(session: Session, { changes, at }: Input<'apply'>): ApplyReply[] {
  return changes.map((change) => applyOne(session, change, at));
}

function applyOne(session: Session, change: ChangeMessage, at: number): ApplyReply {
  const { tenant, id, by, fence, cells, limitKey } = change;
  const held = limitKey === null ? 0 : (session.sql['limit-holds'].get<[number]>(tenant, id)?.[0] ?? 0);
  const query = by === 'lease' ? 'apply-by-lease' : 'apply-by-version';
  const written = session.sql[query].run(...cells, tenant, id, ...fence);
  if (written.changes === 0) return by === 'lease' && isRepeated(session, change) ? 'repeated' : 'lost';
  session.log(change.events, at);
  if (rankOf(cells) !== null) session.wake(queueOf(cells));
  return limitKey === null ? 'applied' : { admitted: moveSlot(session, change, limitKey, held) };
}

/** The same run was settled with the same outcome before: the caller did not hear our answer. */
function isRepeated({ sql }: Session, { tenant, id, fence, cells }: ChangeMessage): boolean {
  const found = sql['run-of'].get<[string, number, string | null, string | null]>(tenant, id);
  if (!found) return false;
  const [state, run, claimId, outcome] = found;
  return state !== 'active' && run === fence[0] && claimId === fence[1] && outcome === outcomeOf(cells);
}

const queueOf = (cells: MutableCells): string => cells[1];
const rankOf = (cells: MutableCells): string | null => cells[5];
const outcomeOf = (cells: MutableCells): string | null => cells[15];
const holdsSlot = (cells: MutableCells): number => cells[26];

/**
 * Admission changes neither version nor `nextAt`, so a job may have got a slot since the caller read it: whether one
 * became free is told by the rows, and `slot` only adds that the job wants one.
 */
function moveSlot(session: Session, { tenant, slot, cells }: ChangeMessage, key: string, held: number): Row[] {
  const holds = holdsSlot(cells);
  countHolder(session, tenant, key, held, holds);
  return slot !== null || holds < held ? admit(session, tenant, key) : [];
}
