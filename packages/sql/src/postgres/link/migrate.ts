import type { Logger } from '@waybill/core';
import { WaybillError } from '@waybill/core';
import type { Queryable } from './connections.ts';
import { codeOf } from './failures.ts';
import type { Link } from './link.ts';
import { type Migration, readMigrations } from './migration-files.ts';
import { Patience } from './patience.ts';

/** A change of a table waits no longer than this behind other transactions, since live workers would wait behind it. */
const LOCK_TIMEOUT = '250ms';
const LOCK_NOT_AVAILABLE = '55P03';

/** Building an index on a large table takes its time. */
const MIGRATION_TIMEOUT_MS = 30 * 60_000;
/** How long to try for the locks, or wait for another process that migrates. */
const PATIENCE_MS = 5 * 60_000;

/**
 * Brings the schema up to date, one migration per transaction. Any number of processes may start at once: one takes
 * the lock, the others wait and then find nothing left to do. Workers of the previous version go on meanwhile.
 */
export async function migrate(link: Link, logger: Logger, all: readonly Migration[] = readMigrations()): Promise<void> {
  const patience = new Patience(PATIENCE_MS, new AbortController().signal);
  let isTold = false;
  while ((await pendingMigration(link, link, all)) !== undefined) {
    if (await step(link, logger, all)) continue;
    if (!isTold) logger.info({ schema: link.schema }, 'Waiting for others to let the schema be migrated.');
    isTold = true;
    if (!(await patience.wait())) {
      throw new WaybillError('unavailable', `The schema ${link.schema} could not be migrated: it stayed locked.`, {
        hint: 'Look for long transactions that use its tables, then run `waybill migrate` again.',
      });
    }
  }
}

/** The number of the last migration that ran; 0 where there is none. */
export async function schemaVersion(link: Link): Promise<number> {
  const rows = await appliedMigrations(link, link);
  return rows.at(-1)?.[0] ?? 0;
}

/** Answers false when somebody else is at it, or a lock is not to be had. */
async function step(link: Link, logger: Logger, all: readonly Migration[]): Promise<boolean> {
  try {
    return await link.transaction((tx) => applyNext(link, tx, logger, all), { timeoutMs: MIGRATION_TIMEOUT_MS });
  } catch (error) {
    const cause = error instanceof WaybillError ? error.cause : error;
    if (codeOf(cause) === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

async function applyNext(link: Link, tx: Queryable, logger: Logger, all: readonly Migration[]): Promise<boolean> {
  const lock = 'select pg_try_advisory_xact_lock(hashtextextended($1, 0))';
  const [row] = await tx.query<[boolean]>(lock, [`waybill migrate ${link.schema}`]);
  if (!row![0]) return false;
  const next = await pendingMigration(link, tx, all);
  if (next === undefined) return true;
  await tx.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
  if (next.number === all[0]!.number) await createSchema(link, tx);
  await tx.query(link.sql(next.sql));
  const insert = 'insert into {schema}.migrations (number, name, checksum) values ($1, $2, $3)';
  await tx.query(link.sql(insert), [next.number, next.name, next.checksum]);
  logger.info({ schema: link.schema, migration: next.name }, 'The schema was migrated.');
  return true;
}

/** The first migration that has not run. Refuses a schema that is not what these files make. */
export async function pendingMigration(
  link: Link,
  from: Queryable,
  all: readonly Migration[],
): Promise<Migration | undefined> {
  const applied = await appliedMigrations(link, from);
  const newest = all.at(-1)?.number ?? 0;
  const version = applied.at(-1)?.[0] ?? 0;
  if (version > newest) {
    throw new WaybillError(
      'unsupported',
      `The schema ${link.schema} was made by a newer version of Waybill: it is ${version}, this one knows ${newest}.`,
      { hint: 'Upgrade Waybill, or use another schema.' },
    );
  }
  const checksums = new Map(applied);
  const changed = all.find(({ number, checksum }) => (checksums.get(number) ?? checksum) !== checksum);
  if (changed) {
    throw new WaybillError('unsupported', `The schema ${link.schema} was made by another version of ${changed.name}.`, {
      hint: 'Use a released version of Waybill, or another schema.',
    });
  }
  return all.find(({ number }) => number > version);
}

/** Read from the catalogue: within a transaction `to_regclass` may repeat that there is no such table after there is. */
const HAS_MIGRATIONS = `
  select exists (
    select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = $1 and relname = 'migrations'
  )`;

async function appliedMigrations(link: Link, from: Queryable): Promise<[number: number, checksum: string][]> {
  const [row] = await from.query<[boolean]>(HAS_MIGRATIONS, [link.schema]);
  if (!row![0]) return [];
  return from.query(link.sql('select number, checksum from {schema}.migrations order by number'));
}

/** An existing schema is not created again, since even the attempt needs a privilege that its user may not have. */
async function createSchema(link: Link, tx: Queryable): Promise<void> {
  const [row] = await tx.query<[boolean]>('select to_regnamespace($1) is not null', [link.sql('{schema}')]);
  if (!row![0]) await tx.query(link.sql('create schema {schema}'));
  await tx.query(
    link.sql(`create table if not exists {schema}.migrations (
      number int primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`),
  );
}
