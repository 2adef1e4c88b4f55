import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { bindsByPosition } from './older-node.ts';
import type { Cell, Row } from './rows.ts';

/** What a statement can be given and can give. */
export type Value = Cell | Uint8Array;

/** A prepared statement whose rows are arrays: cheaper to make and to send to another thread than objects. */
export interface Query {
  run(...parameters: Value[]): { changes: number | bigint };
  get<T extends Value[] = Row>(...parameters: Value[]): T | undefined;
  all<T extends Value[] = Row>(...parameters: Value[]): T[];
  /** With exact numbers, however large. */
  allExact(...parameters: Cell[]): (Cell | bigint)[][];
}

export function prepare(db: DatabaseSync, text: string): Query {
  if (!bindsByPosition(db)) return prepareForOlderNode(db, text);
  const statement = db.prepare(text);
  statement.setReturnArrays(true);
  const query = statement as unknown as Query;
  query.allExact = (...values) => exactly(statement, () => query.all<Cell[]>(...values));
  return query;
}

/** Numbers are read exactly by one call: every other one is spared the conversion. */
function exactly<T>(statement: Pick<StatementSync, 'setReadBigInts'>, read: () => T): T {
  statement.setReadBigInts(true);
  try {
    return read();
  } finally {
    statement.setReadBigInts(false);
  }
}

/** What node:sqlite gives everywhere: objects, whose keys come in the order of the columns. */
interface ObjectStatement {
  run(...values: unknown[]): { changes: number | bigint };
  get(...values: unknown[]): object | undefined;
  all(...values: unknown[]): object[];
  setReadBigInts(enabled: boolean): void;
}

/** For an older Node the parameters get names, which costs an object per call, and rows are turned into arrays. */
function prepareForOlderNode(db: DatabaseSync, text: string): Query {
  const statement = db.prepare(text.replaceAll(/\?(\d+)/g, '$p$1')) as unknown as ObjectStatement;
  const used = [...new Set([...text.matchAll(/\?(\d+)/g)].map(([, number]) => Number(number)))];
  // Parameters without a number are bound in their order by every version.
  const bound = (values: readonly Value[]): unknown[] =>
    used.length === 0 ? [...values] : [Object.fromEntries(used.map((number) => [`p${number}`, values[number - 1]!]))];
  const toArray = <T extends Value[]>(row: object): T => Object.values(row) as T;
  return {
    run: (...values) => statement.run(...bound(values)),
    get: <T extends Value[]>(...values: Value[]) => {
      const row = statement.get(...bound(values));
      return row && toArray<T>(row);
    },
    all: <T extends Value[]>(...values: Value[]) => statement.all(...bound(values)).map((row) => toArray<T>(row)),
    allExact: (...values) =>
      exactly(statement, () => statement.all(...bound(values)).map((row) => toArray<Cell[]>(row))),
  };
}
