import { applyOne } from './apply.ts';
import type { UniqueMessage } from './protocol.ts';
import { AT, type Row } from './rows.ts';
import type { Session } from './session.ts';

interface Taken {
  /** Who keeps the key from the new job; null when nobody does. */
  by: Row | null;
  /** Jobs that got the slot of the owner that was replaced. */
  admitted: Row[];
}

/** Gives a unique key to a job that is about to be inserted, if its owner is the one that was expected. */
export function takeKey(session: Session, row: Row, unique: UniqueMessage, at: number, now: number): Taken {
  const [tenant, id] = [row[AT.tenant], row[AT.id]];
  const owner = ownerOf(session, tenant, unique.key);
  let admitted: Row[] = [];
  // When the expected owner's row is gone, nobody is left who could be in the way, or be replaced.
  if (owner) {
    if (owner[AT.id] !== unique.owner?.id || owner[AT.version] !== unique.owner.version) return { by: owner, admitted };
    const reply = unique.replace ? applyOne(session, unique.replace, at, now) : 'applied';
    if (reply === 'lost' || reply === 'repeated') return { by: owner, admitted };
    if (reply !== 'applied') admitted = reply.admitted;
  }
  session.sql['unique-take'].run(tenant, unique.key, id);
  return { by: null, admitted };
}

function ownerOf({ sql }: Session, tenant: string, key: string): Row | undefined {
  const found = sql['unique-owner'].get<[string]>(tenant, key);
  return found && sql['job-by-id'].get(tenant, found[0]);
}
