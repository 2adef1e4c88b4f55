import { existsSync } from 'node:fs';
import { fileOf, type StoreAddress } from '../connect/parse-address.ts';

/** A table has had one layout so far. */
const TABLE_LAYOUT = 1;

/** The number of the last migration that ran; null where there is nothing to ask. */
export async function schemaVersion(address: StoreAddress): Promise<number | null> {
  if (address.kind === 'postgres') {
    const { postgresSchemaVersion } = await import('@waybill/sql/postgres');
    return (await postgresSchemaVersion(address.options)) || null;
  }
  if (address.kind === 'dynamodb') {
    const { hasTable } = await import('@waybill/aws/dynamodb');
    return (await hasTable(address.options)) ? TABLE_LAYOUT : null;
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
