import { randomBytes, randomUUID } from 'node:crypto';
import { dynamoStore } from '@waybill/aws/dynamodb';
import { hasJava, localClient } from '@waybill/aws/testing';
import { type Store, silentLogger } from '@waybill/core';
import { propertyRuns } from '@waybill/core/testing';
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

/** A store of its own for a test, of every kind. */
export const STORES: readonly { kind: string; canRun: boolean; runs: number; open(): Promise<Store> }[] = [
  {
    kind: 'SQLite',
    canRun: true,
    runs: propertyRuns(60),
    open: () => openStore('sqlite::memory:', { logger: silentLogger }),
  },
  {
    ...{ kind: 'PostgreSQL', canRun: true, runs: propertyRuns(30) },
    open: async () => openStore(await tempDatabase(), { logger: silentLogger }),
  },
  {
    ...{ kind: 'DynamoDB (skipped without Java 17)', canRun: hasDynamo, runs: propertyRuns(15) },
    open: async () => {
      const endpoint = process.env['WAYBILL_TEST_DYNAMODB'] ?? (await sharedAddress(inject('dynamoAddressUrl')));
      // DynamoDB Local keeps a database for each access key.
      const client = localClient(endpoint, `test${randomBytes(8).toString('hex')}`);
      onTestFinished(() => client.destroy());
      return dynamoStore({ client, table: `walk-${randomUUID()}`, createTable: true, logger: silentLogger });
    },
  },
];
