import type { DynamoObserver } from '@waybill/aws/dynamodb';
import { type Clock, checkNodeVersion, type Logger, type Store } from '@waybill/core';
import type { AwsParts } from './aws-parts.ts';
import { parseStoreAddress, type StoreAddress } from './parse-address.ts';

export interface OpenOptions {
  logger?: Logger;
  clock?: Clock;
  /** Whether a table that does not exist is made. A file is, in any case. @defaultValue true */
  create?: boolean;
  /** Told of the requests to DynamoDB, where that is the store. @defaultValue none */
  awsObserver?: DynamoObserver;
  /** Counts where that is the store. */
  dynamodb?: NonNullable<AwsParts['dynamodb']>;
}

/** Opens the store that an address names. Stores are loaded only when named, so that none is paid for unused. */
export async function openStore(
  address: string | StoreAddress,
  { create = true, awsObserver, dynamodb = {}, ...options }: OpenOptions = {},
): Promise<Store> {
  checkNodeVersion();
  const parsed = typeof address === 'object' && address !== null ? address : parseStoreAddress(address);
  switch (parsed.kind) {
    case 'sqlite': {
      const { path, durability } = parsed;
      const { sqliteStore } = await import('@waybill/sql/sqlite');
      return sqliteStore({ path, durability, ...options });
    }
    case 'postgres': {
      const { postgresStore } = await import('@waybill/sql/postgres');
      return postgresStore({ ...parsed.options, ...options });
    }
    case 'dynamodb': {
      const { dynamoStore } = await import('@waybill/aws/dynamodb');
      return dynamoStore({
        ...{ ...dynamodb, ...parsed.options, createTable: create && dynamodb.createTable !== false },
        ...options,
        ...(awsObserver && { observer: awsObserver }),
      });
    }
  }
}
