import type { DatabaseSync } from 'node:sqlite';

let isCurrent: boolean | undefined;

/** Whether numbered parameters can be bound in their order (Node 22.20) and rows come as arrays (Node 22.16). */
export function bindsByPosition(db: DatabaseSync): boolean {
  isCurrent ??= tryBinding(db);
  return isCurrent;
}

function tryBinding(db: DatabaseSync): boolean {
  try {
    const statement = db.prepare('select ?1 as one');
    return 'setReturnArrays' in statement && statement.get(1)?.['one'] === 1;
  } catch {
    return false;
  }
}

/** Whether a transaction is open. Node before 22.16 does not tell, but SQLite refuses to begin one inside another. */
export function isInTransaction(db: Pick<DatabaseSync, 'exec'> & { isTransaction?: boolean }): boolean {
  if (db.isTransaction !== undefined) return db.isTransaction;
  try {
    db.exec('begin');
  } catch (error) {
    return error instanceof Error && error.message.includes('within a transaction');
  }
  db.exec('rollback');
  return false;
}
