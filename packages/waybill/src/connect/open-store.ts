import { type Clock, type Logger, type Store, WaybillError } from '@waybill/core';
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
  const colon = address.indexOf(':');
  const scheme = colon < 0 ? '' : address.slice(0, colon);
  const rest = address.slice(colon + 1);
  switch (scheme) {
    case 'sqlite': {
      const [path = '', query = ''] = rest.split('?', 2);
      if (path === '') throw badAddress(address, 'it names no file');
      const { sqliteStore } = await import('@waybill/sql/sqlite');
      return sqliteStore({
        path: path.replace(/^\/\/(?=[^/])/, ''),
        durability: durabilityOf(address, query),
        ...options,
      });
    }
    case 'postgres':
    case 'postgresql': {
      const { postgresStore } = await import('@waybill/sql/postgres');
      return postgresStore({ ...postgresOptions(address), ...options });
    }
    case 'dynamodb': {
      const { dynamoStore } = await import('@waybill/aws/dynamodb');
      return dynamoStore({ ...dynamoOptions(address), createTable: create, ...options });
    }
    default:
      throw badAddress(
        address,
        scheme === '' ? 'it has no scheme' : `'${scheme}:' is no store that this version knows`,
      );
  }
}

function durabilityOf(address: string, query: string): 'full' | 'normal' {
  const durability = new URLSearchParams(query).get('durability') ?? 'full';
  if (durability === 'full' || durability === 'normal') return durability;
  throw badAddress(address, "'durability' must be full or normal");
}

const badAddress = (address: string, why: string): WaybillError =>
  new WaybillError('invalid_request', `The store address '${withoutSecrets(address)}' cannot be used: ${why}.`, {
    hint: 'Use an address like sqlite:./waybill.db, postgres://user@host/database or dynamodb://REGION/TABLE.',
  });

/** Addresses end up in messages and logs; passwords must not. */
export const withoutSecrets = (address: string): string => address.replace(/\/\/([^:/@]*):[^@/]*@/, '//$1:***@');
