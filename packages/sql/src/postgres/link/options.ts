import { type Clock, invalidField, type Logger, stderrLogger, WaybillError } from '@waybill/core';
import type { Pool, PoolConfig } from './pg-types.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. Give this, a `config` or a `pool`. */
  url?: string;
  /** What `pg` takes, for what a URL cannot say: certificates, a function that makes passwords. */
  config?: PoolConfig;
  /** A pool that the caller owns, and closes. Calls that find all of its connections in use fail after `connectTimeoutMs`. */
  pool?: Pool;
  /** Waybill keeps to this schema and makes it where it does not exist. @defaultValue 'waybill' */
  schema?: string;
  /** Connections at most, besides the one that listens. @defaultValue 10 */
  poolSize?: number;
  /** For tests. Left out, all times follow the clock of the server. */
  clock?: Clock;
  /** @defaultValue stderrLogger */
  logger?: Logger;
  /** Whether to hear of other processes' jobs at once, by LISTEN on a connection of its own. @defaultValue true */
  listen?: boolean;
  /** Where to listen when `url` leads to a transaction pooler, which forgets who listens. */
  listenUrl?: string;
  /** Whether to bring the schema up to date first. @defaultValue true */
  migrate?: boolean;
  /** How long a call is repeated while the server is away. @defaultValue 30000 */
  patienceMs?: number;
  /** How long one statement may take before its connection counts as dead. @defaultValue 10000 */
  queryTimeoutMs?: number;
  /** How long to wait for a connection: a new one, or a free one of the pool. @defaultValue 5000 */
  connectTimeoutMs?: number;
}

/**
 * A worker extends its leases of 30 s every 20 s. A statement that a dead connection swallowed is given up after 10 s, so
 * a call is tried three times while one lease lasts, and its failure is told before a patient caller would give up.
 */
export const DEFAULTS = {
  schema: 'waybill',
  poolSize: 10,
  logger: stderrLogger,
  listen: true,
  migrate: true,
  patienceMs: 30_000,
  queryTimeoutMs: 10_000,
  connectTimeoutMs: 5_000,
} satisfies PostgresOptions;

/** The longest name that PostgreSQL does not cut off, less what the name of the channel adds. */
const LONGEST_SCHEMA = 48;

export function checkSchema(schema: string): string {
  if (!/^[a-z_][a-z0-9_]*$/.test(schema) || schema.length > LONGEST_SCHEMA || schema.startsWith('pg_')) {
    throw invalidField(
      'schema',
      `must be a plain lower-case name of at most ${LONGEST_SCHEMA} characters, not '${schema}'`,
      { schema },
    );
  }
  return schema;
}

/** Idle connections are probed, so that a firewall neither forgets them nor hides that the server is gone. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** What the connections of the pool are made from. Only what every pooler lets through is asked of the server. */
export function poolConfig(options: PostgresOptions): PoolConfig {
  return {
    ...base(options.url, options.config),
    max: options.poolSize ?? options.config?.max ?? DEFAULTS.poolSize,
    connectionTimeoutMillis: options.connectTimeoutMs ?? DEFAULTS.connectTimeoutMs,
    // An unused store does not keep the process alive.
    allowExitOnIdle: true,
  };
}

/** What the one connection that listens is made from. */
export function listenConfig(options: PostgresOptions): PoolConfig {
  const connectionTimeoutMillis = options.connectTimeoutMs ?? DEFAULTS.connectTimeoutMs;
  if (options.listenUrl !== undefined) return { ...base(options.listenUrl), connectionTimeoutMillis };
  // The pool hides its password from loops over its options, so it has to be asked for.
  const theirs = options.pool && { ...options.pool.options, password: options.pool.options.password };
  return { ...base(options.url, theirs ?? options.config), connectionTimeoutMillis };
}

function base(url: string | undefined, config: PoolConfig = {}): PoolConfig {
  if (url !== undefined) checkUrl(url);
  return {
    application_name: 'waybill',
    ...KEEP_ALIVE,
    ...config,
    ...(url === undefined ? {} : { connectionString: url }),
  };
}

/** Host, port and database, for messages: an address holds a password. */
export function serverOf({ url, config, pool }: PostgresOptions): string {
  const { connectionString = url, host, port, database } = pool?.options ?? config ?? {};
  const given = connectionString !== undefined && URL.canParse(connectionString) ? new URL(connectionString) : null;
  const name = given?.searchParams.get('host') || given?.hostname || host || process.env['PGHOST'] || 'localhost';
  const base = given?.pathname.replace(/^\//, '') || database;
  const at = given?.searchParams.get('port') || given?.port || port || process.env['PGPORT'] || 5432;
  // A password that was not percent-encoded may look like a path.
  return `${name}:${at}${base && /^[\w-]+$/.test(base) ? `/${base}` : ''}`;
}

/** The text of the URL stays out of the error, since it holds a password. */
function checkUrl(url: string): void {
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new WaybillError('invalid_request', 'The address of the database is not a PostgreSQL URL.', {
      hint: 'It looks like postgres://user:password@host:5432/database; special characters in it are percent-encoded.',
    });
  }
}
