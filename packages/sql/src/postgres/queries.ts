import { sqlFiles } from '../sql-files.ts';
import { QUERIES } from './embedded-sql.ts';
import { COLUMNS } from './rows.ts';

export const QUERY_NAMES = [
  'admit',
  'apply',
  'bundles-due',
  'bundles-of',
  'bundles-open',
  'children-free',
  'children-waiting',
  'claim',
  'claim-by-id',
  'claim-one',
  'claims-forget',
  'clashes',
  'cron-enable',
  'cron-get',
  'cron-list',
  'cron-lock',
  'cron-move',
  'cron-put',
  'cron-remove',
  'crons-due',
  'due',
  'due-after',
  'due-at',
  'edges-insert',
  'edges-meet',
  'extend',
  'finish',
  'get',
  'insert',
  'insert-and-claim',
  'insert-keyed',
  'insert-one',
  'jobs-lock',
  'limit-get',
  'limit-starts-take',
  'limits-due',
  'limits-lock',
  'limits-note',
  'limits-write',
  'lock-release',
  'lock-take',
  'lock-until',
  'log-adopt',
  'log-lock',
  'log-state',
  'note-unused-limits',
  'note-unused-queues',
  'note-unused-subjects',
  'notify',
  'parents',
  'parked-next',
  'progress-get',
  'progress-put',
  'prune-jobs',
  'prune-left',
  'prune-limits',
  'prune-queues',
  'prune-subjects',
  'prune-workers',
  'prune-workflows',
  'queue-enter',
  'queue-forget',
  'queue-keep',
  'queue-limit',
  'queue-list',
  'queue-lock',
  'queue-pause',
  'queue-resume',
  'queue-stats',
  'queue-unlimit',
  'queues-note',
  'queues-opening',
  'record-create',
  'record-get',
  'record-list',
  'record-remove',
  'record-replace',
  'records-prune',
  'remind',
  'segment-append',
  'segment-shorten',
  'segments-after',
  'segments-from-start',
  'segments-old',
  'segments-remove',
  'subjects-count',
  'totals-fold',
  'unique-lock',
  'unique-note',
  'unique-take',
  'worker-beat',
  'worker-direct',
  'worker-enter',
  'worker-list',
  'worker-lock',
  'workflow-create',
  'workflow-get',
  'workflow-join',
  'workflow-list',
  'workflow-list-by-id',
  'workflow-list-in-states',
  'workflow-lock',
  'workflow-move',
  'workflow-name-taken',
  'workflow-names',
  'workflow-unfinished',
] as const;

export type QueryName = (typeof QUERY_NAMES)[number];

export type Statements = Readonly<Record<QueryName, string>>;

const files = () => sqlFiles('postgres/queries', QUERIES);

export const queryFiles = (): string[] => Object.keys(files()).map((name) => name.replace('.sql', ''));

export const readQuery = (name: QueryName): string => files()[`${name}.sql`]!;

const OF_JOB = COLUMNS.split(',').map((column) => `(job).${column.trim()}`);

/** `{columns}` are those of a job's row, `{job.columns}` the same of a column that is such a row. */
export const withColumns = (text: string): string =>
  text.replaceAll('{columns}', COLUMNS).replaceAll('{job.columns}', OF_JOB.join(', '));

/** `fillIn` puts in the names of schema and channel. */
export function readAll(fillIn: (text: string) => string): Statements {
  return Object.fromEntries(QUERY_NAMES.map((name) => [name, fillIn(withColumns(readQuery(name)))])) as Statements;
}
