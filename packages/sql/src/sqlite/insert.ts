import { admit, countHolder } from './limits.ts';
import type { GroupMessage, Input, InsertReply } from './protocol.ts';
import { AT, type Row } from './rows.ts';
import type { Session } from './session.ts';

/** Carries the answer out of the savepoint that it ends. */
class Conflict extends Error {
  readonly reply: InsertReply;
  constructor(reply: InsertReply) {
    super('conflict');
    this.reply = reply;
  }
}

export function insert(session: Session, { groups, at }: Input<'insert'>): InsertReply[] {
  return groups.map((group) => {
    // A single job is all or nothing by itself.
    if (group.rows.length === 1 && group.edges.length === 0) return insertGroup(session, group, at);
    try {
      return session.attempt(() => {
        const reply = insertGroup(session, group, at);
        if (reply.status !== 'inserted') throw new Conflict(reply);
        return reply;
      });
    } catch (error) {
      if (error instanceof Conflict) return error.reply;
      throw error;
    }
  });
}

function insertGroup(session: Session, { rows, events, edges }: GroupMessage, at: number): InsertReply {
  const limits = new Set<string>();
  for (const [index, row] of rows.entries()) {
    if (session.sql['insert-job'].run(...row).changes === 0) return conflict(session, row, index);
    session.noteQueue(row[AT.tenant], row[AT.queue]);
    if (row[AT.rank] !== null) session.wake(row[AT.queue]);
    const key = row[AT.limitKey];
    if (key === null) continue;
    countHolder(session, row[AT.tenant], key, 0, row[AT.holdsSlot]);
    limits.add(key);
  }
  const tenant = rows[0]?.[AT.tenant] ?? '';
  for (const { parent, child } of edges) session.sql['insert-edge'].run(tenant, parent, child);
  session.log(events, at);
  if (limits.size === 0) return { status: 'inserted', admitted: [] };
  const admitted = new Set([...limits].flatMap((key) => admit(session, tenant, key).map((row) => row[AT.id])));
  return { status: 'inserted', admitted: rows.flatMap((row, index) => (admitted.has(row[AT.id]) ? [index] : [])) };
}

function conflict({ sql }: Session, row: Row, index: number): InsertReply {
  const sameId = sql['job-by-id'].get(row[AT.tenant], row[AT.id]);
  if (sameId) return { status: 'exists', index, row: sameId };
  const sameKey = sql['job-by-idempotency-key'].get(row[AT.tenant], row[AT.idempotencyKey]);
  if (sameKey) return { status: 'repeated', index, row: sameKey };
  throw new Error(`Job ${row[AT.id]} was refused without a conflict.`);
}
