import { readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { bindsByPosition, prepareForOlderNode } from './older-node.ts';
import type { Cell, Row } from './rows.ts';

export const QUERY_NAMES = [
  'admit',
  'apply-by-lease',
  'apply-by-version',
  'children-free',
  'children-waiting',
  'claim-held',
  'claim-job',
  'claim-ready',
  'count',
  'cron-get',
  'cron-list',
  'cron-move',
  'cron-put',
  'cron-remove',
  'crons-due',
  'crons-due-keys',
  'data-version',
  'due',
  'due-after',
  'due-keys',
  'edges-meet',
  'extend-job',
  'finish-by-lease',
  'forget-edges',
  'forget-job',
  'insert-edge',
  'insert-job',
  'job-by-id',
  'job-by-idempotency-key',
  'limit-get',
  'limit-note',
  'limit-rule',
  'limit-use',
  'limits-due',
  'list',
  'parents',
  'parked-any',
  'parked-count',
  'parked-next',
  'progress-forget',
  'progress-get',
  'progress-put',
  'prune-jobs',
  'prune-left',
  'prune-workflows',
  'queue-active',
  'queue-first',
  'queue-gate',
  'queue-get',
  'queue-keep',
  'queue-list',
  'queue-note',
  'queue-pause',
  'queue-resume',
  'queue-rule',
  'queue-shift',
  'queue-started',
  'queue-totals',
  'queues-any-limited',
  'queues-forgetful',
  'row-before',
  'run-of',
  'segment-append',
  'segment-shorten',
  'segments-after',
  'segments-old',
  'segments-remove',
  'segments-span',
  'unique-forget',
  'unique-owner',
  'unique-take',
  'worker-beat',
  'worker-direct',
  'worker-list',
  'workflow-create',
  'workflow-get',
  'workflow-join',
  'workflow-list',
  'workflow-list-in-state',
  'workflow-move',
  'workflow-unfinished',
] as const;

export type QueryName = (typeof QUERY_NAMES)[number];

/** A prepared statement whose rows are arrays: cheaper to make and to send to another thread than objects. */
export interface Query {
  run(...parameters: Cell[]): { changes: number | bigint };
  get<T extends Cell[] = Row>(...parameters: Cell[]): T | undefined;
  all<T extends Cell[] = Row>(...parameters: Cell[]): T[];
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
  if (!bindsByPosition(db)) return prepareForOlderNode(db, text);
  const statement = db.prepare(text);
  statement.setReturnArrays(true);
  return statement as unknown as Query;
}
