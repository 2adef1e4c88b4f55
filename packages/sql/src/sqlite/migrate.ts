import type { DatabaseSync } from 'node:sqlite';
import { WaybillError } from '@waybill/core';
import { sqlFiles } from '../sql-files.ts';
import { MIGRATIONS } from './embedded-sql.ts';
import { isInTransaction } from './older-node.ts';

/** Marks a file as ours: the letters WAYB. */
const APPLICATION_ID = 0x57415942;

interface Migration {
  number: number;
  name: string;
  sql: string;
}

export function migrations(): Migration[] {
  const files = Object.entries(sqlFiles('sqlite/migrations', MIGRATIONS));
  return files.map(([name, sql]) => ({ number: Number.parseInt(name, 10), name, sql }));
}

/**
 * Brings the schema up to date. Several processes may start at once: the first takes the write lock, the others wait
 * for it and then find nothing left to do.
 */
export function migrate(db: DatabaseSync, path: string): void {
  const all = migrations();
  const newest = all.at(-1)?.number ?? 0;
  if (within(db, 'begin', () => schemaVersion(db, newest, path)) === newest) return;
  within(db, 'begin exclusive', () => {
    const current = schemaVersion(db, newest, path);
    for (const { number, sql } of all) {
      if (number > current) db.exec(sql);
    }
    db.exec(`pragma application_id = ${APPLICATION_ID}`);
    db.exec(`pragma user_version = ${newest}`);
  });
}

function within<T>(db: DatabaseSync, begin: string, work: () => T): T {
  db.exec(begin);
  try {
    const answer = work();
    db.exec('commit');
    return answer;
  } catch (error) {
    // A full disk has rolled back already.
    if (isInTransaction(db)) db.exec('rollback');
    throw error;
  }
}

/**
 * The number of the last migration that ran; 0 for an empty file. Refuses what is not ours or too new. It reads the file
 * several times, so it needs a transaction: another process may migrate the file between two of the reads.
 */
function schemaVersion(db: DatabaseSync, newest: number, path: string): number {
  const version = numberOf(db, 'pragma user_version');
  if (numberOf(db, 'pragma application_id') !== APPLICATION_ID) {
    const isEmpty = version === 0 && numberOf(db, 'select count(*) from sqlite_schema') === 0;
    if (isEmpty) return 0;
    throw new WaybillError('unsupported', `The database belongs to another program. (${path})`, {
      hint: 'Give Waybill a file of its own.',
    });
  }
  if (version > newest) {
    throw new WaybillError(
      'unsupported',
      `The database was written by a newer version of Waybill: its schema is ${version}, this one knows ${newest}. (${path})`,
      { hint: 'Upgrade Waybill, or open another file.' },
    );
  }
  return version;
}

function numberOf(db: DatabaseSync, query: string): number {
  return Number(Object.values(db.prepare(query).get() ?? {})[0]);
}
