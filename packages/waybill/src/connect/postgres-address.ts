import { closest, WaybillError } from '@waybill/core';
import type { PostgresStoreOptions } from '@waybill/sql/postgres';
import { badAddress, checkOnce, ENCODE, parseUrl, unknownParameter } from './address.ts';

export type PostgresSettings = Pick<PostgresStoreOptions, 'url' | 'schema' | 'poolSize' | 'listenUrl'>;

const isPostgres = (address: string): boolean => /^postgres(ql)?:\/\//i.test(address);

const OURS = ['schema', 'pool', 'listen_url'];
const MOST_CONNECTIONS = 1_000;
/** As the store has it, which would show the value that it refuses. */
const SCHEMA = /^(?!pg_)[a-z_][a-z0-9_]{0,47}$/;

/**
 * `postgres://..` as `pg` takes it. What Waybill itself reads comes out of the query: `schema`, `pool` (connections at
 * most) and `listen_url` (where to listen when the address leads to a transaction pooler).
 */
export function postgresOptions(address: string): PostgresSettings {
  const url = parseUrl(withHost(address), 'postgres');
  if (!isPostgres(address)) throw badAddress(address, "'postgres:' must be followed by two slashes.", ['postgres']);
  // A password that is not encoded ends the host early, and its rest looks like a database.
  if (url.pathname.includes('@')) throw badAddress(address, `its path has an '@'. ${ENCODE}`, ['postgres']);
  checkNames(address, url.searchParams);
  const taken = (name: string): string | null => {
    const value = url.searchParams.get(name);
    url.searchParams.delete(name);
    return value;
  };
  const [schema, pool, listenUrl] = [taken('schema'), taken('pool'), taken('listen_url')];
  if (listenUrl !== null && !(isPostgres(listenUrl) && URL.canParse(listenUrl))) {
    throw new WaybillError(
      'invalid_request',
      "The parameter 'listen_url' must be the address of a PostgreSQL server.",
      {
        hint: 'Use an address like postgres://user:password@host:5432/database, percent-encoded as a whole.',
      },
    );
  }
  if (schema !== null && !SCHEMA.test(schema)) {
    throw badAddress(address, "'schema' must be a plain lower-case name of at most 48 characters.", ['postgres']);
  }
  return {
    url: url.href,
    ...(schema !== null && { schema }),
    ...(pool !== null && { poolSize: poolSize(address, pool) }),
    ...(listenUrl !== null && { listenUrl: new URL(listenUrl).href }),
  };
}

/** `postgres://user@/db?host=/socket`, as Cloud SQL has it: `pg` prefers the parameter, but a URL with a user needs a host. */
const withHost = (address: string): string =>
  /[?&]host=[^&#]/.test(address) ? address.replace(/^(postgres(?:ql)?:\/\/[^/?#@]*@)(?=\/)/i, '$1localhost') : address;

/**
 * What is not ours is for the driver: libpq, `pg` and the services that hand out addresses have more parameters than a
 * list could name. Only a near miss of ours is refused, because it would have no effect.
 */
function checkNames(address: string, given: URLSearchParams): void {
  for (const name of given.keys()) {
    if (OURS.includes(name)) continue;
    if (!/^[\w.-]+$/.test(name)) throw unknownParameter(address, name, ` ${ENCODE}`, 'postgres');
    const meant = closest(name.toLowerCase(), OURS);
    if (meant !== undefined) throw unknownParameter(address, name, ` Did you mean '${meant}'?`, 'postgres');
  }
  checkOnce(address, given, OURS, 'postgres');
}

function poolSize(address: string, text: string): number {
  const size = Number(text);
  if (/^\d+$/.test(text) && size >= 1 && size <= MOST_CONNECTIONS) return size;
  throw badAddress(address, `'pool' must be a number of connections from 1 to ${MOST_CONNECTIONS}.`, ['postgres']);
}
