import { WaybillError } from '@waybill/core';
import type { PostgresStoreOptions } from '@waybill/sql/postgres';
import { badAddress, checkParameters, parseUrl } from './address.ts';

export const isPostgres = (address: string): boolean => /^postgres(ql)?:\/\//i.test(address);

const OURS = ['schema', 'pool', 'listen_url'];

/** What `pg`, libpq and the services that hand out addresses put into them; all of it goes to the driver. */
const THEIRS = [
  ...['host', 'port', 'user', 'password', 'db', 'dbname', 'encoding', 'client_encoding', 'options'],
  ...['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslpassword', 'sslnegotiation', 'uselibpqcompat'],
  ...['application_name', 'fallback_application_name', 'connect_timeout', 'keepalives', 'keepalives_idle'],
  ...['statement_timeout', 'query_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'],
  ...['target_session_attrs', 'channel_binding', 'gssencmode', 'pgbouncer', 'connection_limit', 'pool_timeout'],
];

const MOST_CONNECTIONS = 1_000;

/**
 * `postgres://..` as `pg` takes it. What Waybill itself reads comes out of the query: `schema`, `pool` (connections at
 * most) and `listen_url` (where to listen when the address leads to a transaction pooler).
 */
export function postgresOptions(
  address: string,
): Pick<PostgresStoreOptions, 'url' | 'schema' | 'poolSize' | 'listenUrl'> {
  const url = parseUrl(address, 'postgres');
  if (!isPostgres(address)) throw badAddress(address, "'postgres:' is followed by two slashes.", ['postgres']);
  checkParameters(address, url.searchParams, [...OURS, ...THEIRS], 'postgres');
  const taken = (name: string): string | null => {
    const value = url.searchParams.get(name);
    url.searchParams.delete(name);
    return value;
  };
  const [schema, pool, listenUrl] = [taken('schema'), taken('pool'), taken('listen_url')];
  if (listenUrl !== null && !isPostgres(listenUrl)) {
    // Its text may hold a password.
    throw new WaybillError('invalid_request', "The parameter 'listen_url' must be the address of a PostgreSQL.", {
      hint: 'Use an address like postgres://user:password@host:5432/database, percent-encoded as a whole.',
    });
  }
  return {
    url: url.href,
    ...(schema !== null && { schema }),
    ...(pool !== null && { poolSize: poolSize(address, pool) }),
    ...(listenUrl !== null && { listenUrl }),
  };
}

function poolSize(address: string, text: string): number {
  const size = Number(text);
  if (/^\d+$/.test(text) && size >= 1 && size <= MOST_CONNECTIONS) return size;
  const why = `'pool' must be a number of connections from 1 to ${MOST_CONNECTIONS}, not '${text}'.`;
  throw badAddress(address, why, ['postgres']);
}
