import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

export interface Migration {
  number: number;
  name: string;
  /** With `{schema}` where the schema belongs. */
  sql: string;
  checksum: string;
}

const FOLDER = new URL('../../../src/postgres/migrations/', import.meta.url);

export function readMigrations(folder: URL = FOLDER): Migration[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  return files.sort().map((name) => migration(name, readFileSync(new URL(name, folder), 'utf8')));
}

/** The checksum is that of the text with plain line ends, whatever a checkout has made of them. */
export function migration(name: string, text: string): Migration {
  const sql = text.replaceAll('\r\n', '\n');
  const checksum = createHash('sha256').update(sql).digest('hex').slice(0, 16);
  return { number: Number.parseInt(name, 10), name, sql, checksum };
}
