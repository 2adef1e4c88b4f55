import { invalidField, WaybillError } from '@waybill/core';
import type { PostgresStoreOptions } from '@waybill/sql/postgres';

export const isPostgres = (address: string): boolean => /^postgres(ql)?:\/\//.test(address);

/**
 * `postgres://..` as `pg` takes it. What Waybill itself reads comes out of the query: `schema`, `pool` (connections at
 * most) and `listen_url` (where to listen when the address leads to a transaction pooler).
 */
export function postgresOptions(
  address: string,
): Pick<PostgresStoreOptions, 'url' | 'schema' | 'poolSize' | 'listenUrl'> {
  if (!URL.canParse(address)) {
    // Its text stays out of the error, since it may hold a password.
    throw new WaybillError('invalid_request', 'The store address is not a URL that PostgreSQL can be reached by.', {
      hint: 'Use postgres://user:password@host:5432/database; special characters in it are percent-encoded.',
    });
  }
  const url = new URL(address);
  const taken = (name: string): string | null => {
    const value = url.searchParams.get(name);
    url.searchParams.delete(name);
    return value;
  };
  const [schema, pool, listenUrl] = [taken('schema'), taken('pool'), taken('listen_url')];
  return {
    url: url.href,
    ...(schema !== null && { schema }),
    ...(pool !== null && { poolSize: poolSize(pool) }),
    ...(listenUrl !== null && { listenUrl }),
  };
}

function poolSize(text: string): number {
  const size = Number(text);
  if (Number.isSafeInteger(size) && size >= 1 && size <= 1_000) return size;
  throw invalidField('pool', 'must be a number of connections from 1 to 1000.');
}
