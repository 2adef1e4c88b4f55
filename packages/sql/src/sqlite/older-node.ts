import type { DatabaseSync } from 'node:sqlite';
import type { Query } from './queries.ts';
import type { Cell } from './rows.ts';

/** What node:sqlite gives everywhere: objects, whose keys come in the order of the columns. */
interface ObjectStatement {
  run(...values: unknown[]): { changes: number | bigint };
  get(...values: unknown[]): object | undefined;
  all(...values: unknown[]): object[];
}

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

/** For an older Node the parameters get names, which costs an object per call, and rows are turned into arrays. */
export function prepareForOlderNode(db: DatabaseSync, text: string): Query {
  const statement = db.prepare(text.replaceAll(/\?(\d+)/g, '$p$1')) as unknown as ObjectStatement;
  const used = [...new Set([...text.matchAll(/\?(\d+)/g)].map(([, number]) => Number(number)))];
  // Parameters without a number are bound in their order by every version.
  const bound = (values: readonly Cell[]): unknown[] =>
    used.length === 0 ? [...values] : [Object.fromEntries(used.map((number) => [`p${number}`, values[number - 1]!]))];
  const toArray = <T extends Cell[]>(row: object): T => Object.values(row) as T;
  return {
    run: (...values) => statement.run(...bound(values)),
    get: <T extends Cell[]>(...values: Cell[]) => {
      const row = statement.get(...bound(values));
      return row && toArray<T>(row);
    },
    all: <T extends Cell[]>(...values: Cell[]) => statement.all(...bound(values)).map((row) => toArray<T>(row)),
  };
}
