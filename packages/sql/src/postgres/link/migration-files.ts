import { createHash } from 'node:crypto';
import { sqlFiles } from '../../sql-files.ts';
import { MIGRATIONS } from '../embedded-sql.ts';

export interface Migration {
  number: number;
  name: string;
  /** With `{schema}` where the schema belongs. */
  sql: string;
  checksum: string;
  /** A process that knows the migrations up to this one may go on beside it; by default, only one that knows it. */
  needs: number;
}

/** In the first line of a migration that only adds what a process of the version before does not look at. */
const COMPATIBLE = /^--! compatible with (\d+)\n/;

export function readMigrations(): Migration[] {
  return Object.entries(sqlFiles('postgres/migrations', MIGRATIONS)).map(([name, text]) => migration(name, text));
}

/** The checksum is that of the text with plain line ends, whatever a checkout has made of them. */
export function migration(name: string, text: string): Migration {
  const sql = text.replaceAll('\r\n', '\n');
  const checksum = createHash('sha256').update(sql).digest('hex').slice(0, 16);
  const number = Number.parseInt(name, 10);
  const needs = Number(COMPATIBLE.exec(sql)?.[1] ?? number);
  return { number, name, sql, checksum, needs };
}
