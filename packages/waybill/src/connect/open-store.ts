import { type Clock, checkNodeVersion, type Logger, type Store } from '@waybill/core';
import { badAddress, checkParameters, STORE_SCHEMES, schemeOf } from './address.ts';
import { dynamoOptions } from './dynamo-address.ts';
import { postgresOptions } from './postgres-address.ts';

export interface OpenOptions {
  logger?: Logger;
  clock?: Clock;
  /** Whether a table that does not exist is made. A file is, in any case. @defaultValue true */
  create?: boolean;
}

/** Opens the store that an address names. Stores are loaded only when named, so that none is paid for unused. */
export async function openStore(address: string, { create = true, ...options }: OpenOptions = {}): Promise<Store> {
  checkNodeVersion();
  switch (schemeOf(address, STORE_SCHEMES)) {
    case 'sqlite': {
      const given = sqliteOptions(address);
      const { sqliteStore } = await import('@waybill/sql/sqlite');
      return sqliteStore({ ...given, ...options });
    }
    case 'postgres':
    case 'postgresql': {
      const given = postgresOptions(address);
      const { postgresStore } = await import('@waybill/sql/postgres');
      return postgresStore({ ...given, ...options });
    }
    case 'dynamodb': {
      const given = dynamoOptions(address);
      const { dynamoStore } = await import('@waybill/aws/dynamodb');
      return dynamoStore({ ...given, createTable: create, ...options });
    }
  }
}

/** Reads `sqlite:FILE?durability=full|normal`. */
function sqliteOptions(address: string): { path: string; durability: 'full' | 'normal' } {
  const [path = '', query = ''] = address.slice('sqlite:'.length).split('?', 2);
  if (path === '' || path === '//') throw badAddress(address, 'it names no file.', ['sqlite']);
  const params = new URLSearchParams(query);
  checkParameters(address, params, ['durability'], 'sqlite');
  const durability = params.get('durability') ?? 'full';
  if (durability !== 'full' && durability !== 'normal') {
    throw badAddress(address, `'durability' must be full or normal, not '${durability}'.`, ['sqlite']);
  }
  return { path: path.replace(/^\/\/(?=[^/])/, ''), durability };
}
