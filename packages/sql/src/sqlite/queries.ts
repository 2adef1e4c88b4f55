import { readFileSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Cell, Row } from './rows.ts';

export const QUERY_NAMES = [
  'admit',
  'advanced',
  'apply-by-lease',
  'apply-by-version',
  'claim-held',
  'claim-job',
  'claim-ready',
  'count',
  'data-version',
  'due',
  'due-after',
  'extend-job',
  'forget-edges',
  'has-edges',
  'insert-edge',
  'insert-job',
  'job-by-id',
  'job-by-idempotency-key',
  'limit-count',
  'limit-get',
  'limit-holds',
  'limit-set',
  'limit-take',
  'list',
  'parked-oldest',
  'prune-jobs',
  'prune-left',
  'queue-is-paused',
  'queue-list',
  'queue-note',
  'queue-pause',
  'queue-resume',
  'remove-edges',
  'run-of',
  'segment-append',
  'segment-shorten',
  'segments-after',
  'segments-old',
  'segments-remove',
  'segments-span',
  'worker-beat',
  'worker-direct',
  'worker-list',
] as const;

export type QueryName = (typeof QUERY_NAMES)[number];

/** A prepared statement whose rows are arrays: cheaper to make and to send to another thread than objects. */
export interface Query {
  run(...parameters: Cell[]): { changes: number | bigint };
  get<T extends Cell[] = Row>(...parameters: Cell[]): T | undefined;
  all<T extends Cell[] = Row>(...parameters: Cell[]): T[];
  /** Reads no further than the caller goes. */
  iterate<T extends Cell[] = Row>(...parameters: Cell[]): Iterable<T>;
}

export type Queries = Readonly<Record<QueryName, Query>>;

/** The path goes through the package's root, so that it is the same from `src` and from `dist`. */
export function readQuery(name: QueryName): string {
  return readFileSync(new URL(`../../src/sqlite/queries/${name}.sql`, import.meta.url), 'utf8');
}

export function prepareAll(db: DatabaseSync): Queries {
  return Object.fromEntries(QUERY_NAMES.map((name) => [name, prepare(db, readQuery(name))])) as Queries;
}

export function prepare(db: DatabaseSync, text: string): Query {
  const statement = db.prepare(text);
  if ('setReturnArrays' in statement) {
    statement.setReturnArrays(true);
    return statement as unknown as Query;
  }
  return arraysFromObjects(statement);
}

/** Node before 22.16 gives objects only; their keys come in the order of the columns. */
function arraysFromObjects(statement: StatementSync): Query {
  return {
    run: (...parameters) => statement.run(...parameters),
    get: <T extends Cell[]>(...parameters: Cell[]) => {
      const row = statement.get(...parameters);
      return row && (Object.values(row) as T);
    },
    all: <T extends Cell[]>(...parameters: Cell[]) =>
      statement.all(...parameters).map((row) => Object.values(row) as T),
    *iterate<T extends Cell[]>(...parameters: Cell[]): Generator<T> {
      for (const row of statement.iterate(...parameters)) yield Object.values(row as object) as T;
    },
  };
}
