import { randomBytes, randomUUID } from 'node:crypto';
import { dynamoStore } from '@waybill/aws/dynamodb';
import { hasJava, localClient } from '@waybill/aws/testing';
import { type Store, silentLogger } from '@waybill/core';
import { sharedAddress } from '@waybill/sql/postgres/testing';
import { inject, onTestFinished } from 'vitest';
import { openStore } from '../../connect/open-store.ts';
import { tempDatabase } from '../temp-database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A GET answers the endpoint of the DynamoDB Local of this test run. */
    dynamoAddressUrl: string;
  }
}

/** Skipped only where Java is missing, and that nobody accepts in CI. */
export const hasDynamo = hasJava || process.env['CI'] === 'true';

/** A kind of store, and how a test gets one of its own. */
export interface StoreToWalk {
  kind: string;
  canRun: boolean;
  open(): Promise<Store>;
}

export const STORES: Readonly<Record<'sqlite' | 'postgres' | 'dynamodb', StoreToWalk>> = {
  sqlite: {
    kind: 'SQLite',
    canRun: true,
    open: () => openStore('sqlite::memory:', { logger: silentLogger }),
  },
  postgres: {
    ...{ kind: 'PostgreSQL', canRun: true },
    open: async () => openStore(await tempDatabase(), { logger: silentLogger }),
  },
  dynamodb: {
    ...{ kind: 'DynamoDB (skipped without Java 17)', canRun: hasDynamo },
    open: async () => {
      const endpoint = process.env['WAYBILL_TEST_DYNAMODB'] ?? (await sharedAddress(inject('dynamoAddressUrl')));
      // DynamoDB Local keeps a database for each access key.
      const client = localClient(endpoint, `test${randomBytes(8).toString('hex')}`);
      onTestFinished(() => client.destroy());
      return dynamoStore({ client, table: `walk-${randomUUID()}`, createTable: true, logger: silentLogger });
    },
  },
};
