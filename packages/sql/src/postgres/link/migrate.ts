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
 * the lock, the others wait and then find nothing left to do. Workers of the previous version go on meanwhile, and
 * may be started again where the migration says that it is compatible with them.
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
  const insert = 'insert into {schema}.migrations (number, name, checksum, needs) values ($1, $2, $3, $4)';
  await tx.query(link.sql('alter table {schema}.migrations add column if not exists needs int'));
  await tx.query(link.sql(insert), [next.number, next.name, next.checksum, next.needs]);
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
  // Newer migrations tell which processes they leave at work, so that versions that follow each other run together.
  const needed = Math.max(0, ...applied.map(([number, , needs]) => needs ?? number));
  if (needed > newest) {
    throw new WaybillError(
      'unsupported',
      `The schema ${link.schema} was made by a newer version of Waybill: it is ${version}, this one knows ${newest}.`,
      { hint: 'Upgrade Waybill, or use another schema.', details: { version, needed, known: newest } },
    );
  }
  const checksums = new Map(applied.map(([number, checksum]) => [number, checksum]));
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

type Applied = [number: number, checksum: string, needs: number | null];

/** `needs` is read so that a table without the column will do: it has come with a migration. */
async function appliedMigrations(link: Link, from: Queryable): Promise<Applied[]> {
  const [row] = await from.query<[boolean]>(HAS_MIGRATIONS, [link.schema]);
  if (!row![0]) return [];
  const text = `select number, checksum, (to_jsonb(m) ->> 'needs')::int from {schema}.migrations m order by number`;
  return from.query(link.sql(text));
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
