import { existsSync } from 'node:fs';
import { isPostgres, postgresOptions } from '../connect/postgres-address.ts';
import { fileOf } from './store-address.ts';

/** The number of the last migration that ran; null where there is nothing to ask. */
export async function schemaVersion(address: string): Promise<number | null> {
  if (isPostgres(address)) {
    const { postgresSchemaVersion } = await import('@waybill/sql/postgres');
    return (await postgresSchemaVersion(postgresOptions(address))) || null;
  }
  const file = fileOf(address);
  if (file === null || !existsSync(file)) return null;
  const { DatabaseSync } = await import('node:sqlite');
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(Object.values(db.prepare('pragma user_version').get() ?? {})[0]);
  } finally {
    db.close();
  }
}
