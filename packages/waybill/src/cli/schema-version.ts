import { existsSync } from 'node:fs';
import { dynamoOptions, isDynamo } from '../connect/dynamo-address.ts';
import { isPostgres, postgresOptions } from '../connect/postgres-address.ts';
import { fileOf } from './store-address.ts';

/** A table has had one layout so far. */
const TABLE_LAYOUT = 1;

/** The number of the last migration that ran; null where there is nothing to ask. */
export async function schemaVersion(address: string): Promise<number | null> {
  if (isPostgres(address)) {
    const { postgresSchemaVersion } = await import('@waybill/sql/postgres');
    return (await postgresSchemaVersion(postgresOptions(address))) || null;
  }
  if (isDynamo(address)) {
    const { hasTable } = await import('@waybill/aws/dynamodb');
    return (await hasTable(dynamoOptions(address))) ? TABLE_LAYOUT : null;
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
