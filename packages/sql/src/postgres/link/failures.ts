import { type ErrorCode, LOCK_HELD, WaybillError } from '@waybill/core';

/** What is wrong, and so what ends it: the log tells of each kind once. */
export type FaultKind = 'away' | 'pooler' | 'busy' | 'read-only' | 'slow' | 'rivals';

interface Fault {
  /** Present where the same call may succeed a little later. */
  kind?: FaultKind;
  /** The connection is of no more use. */
  isLost?: boolean;
  /** The server may still be at work on the statement. */
  isUnanswered?: boolean;
  /** It is about this server or this database, so the message names it. */
  namesServer?: boolean;
  code: ErrorCode;
  message: string;
  hint?: string;
  details?: Record<string, unknown>;
}

const away = (message: string, hint?: string): Fault => ({
  kind: 'away',
  isLost: true,
  code: 'unavailable',
  message,
  hint: hint ?? 'Check that PostgreSQL runs and can be reached from here; `waybill doctor` looks closer.',
});

const LOST = away('The connection to PostgreSQL was lost.');
const REFUSED = away('PostgreSQL cannot be reached.');
const STARTING = away('PostgreSQL is starting up or shutting down.');
const RIVALS: Fault = {
  kind: 'rivals',
  code: 'unavailable',
  message: 'PostgreSQL could not put this transaction in order with others.',
};
const STRANGER: Fault = {
  kind: 'pooler',
  code: 'unavailable',
  message: 'A pooler in between has given the connection to others: statements are no longer kept on it.',
};
const TRACED: Fault = {
  ...STRANGER,
  message: 'Somebody who traces the statements changes their texts: they are no longer kept on the connection.',
};
/** What `pg` says where a name comes with another text than before. */
const NOT_UNIQUE = 'Prepared statements must be unique';
const refused = (message: string, hint: string): Fault => ({ code: 'unavailable', message, hint });
const refusedAt = (message: string, hint: string): Fault => ({ ...refused(message, hint), namesServer: true });
const CERTIFICATE = refused(
  'The certificate of PostgreSQL is not trusted.',
  'Give its authority as `ssl.ca` in `config`.',
);
const NO_FILE = refused(
  'A file that the address or the config names does not exist.',
  'Check sslcert, sslkey and sslrootcert.',
);
const schemaFault = refused('The tables of Waybill are missing or of another version.', 'Run `waybill migrate`.');

/** By SQLSTATE, by the system's code, or by the text where `pg` gives neither. */
const KNOWN: Readonly<Record<string, Fault>> = {
  ECONNREFUSED: REFUSED,
  ENOTFOUND: away('The host name of PostgreSQL is not known.', 'Check the host name in the address.'),
  EAI_AGAIN: REFUSED,
  EHOSTUNREACH: REFUSED,
  ENETUNREACH: REFUSED,
  ENOENT: away('The socket of PostgreSQL does not exist.'),
  ECONNRESET: LOST,
  EPIPE: LOST,
  ETIMEDOUT: LOST,
  'Connection terminated': LOST,
  'Connection terminated unexpectedly': LOST,
  'Client has encountered a connection error and is not queryable': LOST,
  'Client was closed and is not queryable': LOST,
  'The server does not support SSL connections': refused(
    'PostgreSQL offers no encrypted connections.',
    'Leave `sslmode` out of the address, or turn `ssl` on at the server.',
  ),
  CERT_HAS_EXPIRED: CERTIFICATE,
  DEPTH_ZERO_SELF_SIGNED_CERT: CERTIFICATE,
  ERR_TLS_CERT_ALTNAME_INVALID: CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CERTIFICATE,
  'timeout expired': REFUSED,
  'Connection terminated due to connection timeout': REFUSED,
  'Query read timeout': { ...away('PostgreSQL did not answer in time.'), kind: 'slow', isUnanswered: true },
  'timeout exceeded when trying to connect': {
    kind: 'busy',
    code: 'unavailable',
    message: 'All connections of the pool stayed in use.',
    hint: 'Look for slow statements, or raise `poolSize`.',
  },
  '25006': {
    kind: 'read-only',
    // A new connection may lead to the new primary.
    isLost: true,
    code: 'unavailable',
    message: 'PostgreSQL takes no writes: it is a standby or was set to read-only.',
    hint: 'Point the address at the primary.',
  },
  '25P03': LOST,
  '26000': STRANGER,
  '42P05': STRANGER,
  '40001': RIVALS,
  '40P01': RIVALS,
  '53100': refused('The disk of PostgreSQL is full.', 'Make room.'),
  '53300': {
    kind: 'busy',
    isLost: true,
    code: 'unavailable',
    message: 'PostgreSQL has no connection left.',
    hint: 'Raise `max_connections`, lower `poolSize`, or put a pooler in between.',
  },
  // Not repeated here: who sets `lock_timeout` wants to know soon.
  '55P03': {
    code: 'unavailable',
    message: 'A lock was held for too long by another transaction.',
    hint: 'Look for transactions that stay open; `waybill doctor` names old ones.',
    details: { reason: LOCK_HELD },
  },
  '57014': {
    kind: 'slow',
    code: 'unavailable',
    message: 'PostgreSQL gave up a statement that took too long.',
    hint: 'Look at `statement_timeout` and at the load of the server.',
  },
  '57P01': STARTING,
  '57P02': STARTING,
  '57P03': STARTING,
  '57P05': LOST,
  '28000': refusedAt('PostgreSQL does not let this user in.', 'Check the user in the address, and pg_hba.conf.'),
  '28P01': refusedAt('PostgreSQL refused the user or the password.', 'Check the address.'),
  '3D000': refusedAt('The database does not exist.', 'Create it, or check the address.'),
  '3F000': schemaFault,
  '42P01': schemaFault,
  '42883': schemaFault,
  '42703': schemaFault,
  '42501': refused(
    'The user of the database lacks a privilege that Waybill needs.',
    '`waybill doctor` names what is missing.',
  ),
};

/** Whole classes of SQLSTATE: trouble with the connection, and with the machine of the server. */
const CLASSES: Readonly<Record<string, Fault>> = {
  '08': LOST,
  '53': { kind: 'busy', code: 'unavailable', message: 'PostgreSQL is short of a resource.' },
  '58': { kind: 'away', isLost: true, code: 'unavailable', message: 'The machine of PostgreSQL met an error.' },
};

const UNEXPECTED: Fault = { code: 'internal', message: 'The PostgreSQL store met an unexpected error.' };

export function faultOf(error: unknown): Fault {
  if (!(error instanceof Error)) return UNEXPECTED;
  // Node tries all addresses of a host and tells of each.
  if (error instanceof AggregateError && error.errors.length > 0) return faultOf(error.errors[0]);
  const code = codeOf(error);
  // Poolers say this of all their troubles. PostgreSQL itself, which names its routine, says it of a mistake of ours.
  if (code === '08P01' && 'routine' in error && error.routine) return UNEXPECTED;
  if (error.message.startsWith(NOT_UNIQUE)) return TRACED;
  if (code === 'ENOENT' && !('syscall' in error && error.syscall === 'connect')) return NO_FILE;
  return KNOWN[code ?? error.message] ?? CLASSES[code?.slice(0, 2) ?? ''] ?? UNEXPECTED;
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** With the name of the server where that is what cannot be reached. */
export function messageOf({ kind, namesServer, message }: Fault, server: string | undefined): string {
  return (kind === 'away' || namesServer) && server !== undefined ? `${message} (${server})` : message;
}

export function errorOf(error: unknown, server?: string): WaybillError {
  if (error instanceof WaybillError) return error;
  const fault = faultOf(error);
  const { code, hint, details } = fault;
  return new WaybillError(code, messageOf(fault, server), {
    cause: plain(error),
    ...(hint === undefined ? {} : { hint }),
    ...(details === undefined ? {} : { details }),
  });
}

/** What a log may show. The errors of `pg` carry the client with its password, and the row that was refused. */
export function plain(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof AggregateError && error.errors.length > 0) return plain(error.errors[0]);
  const copy: Record<string, unknown> = {};
  for (const field of ['code', 'constraint', 'table', 'column', 'routine', 'position', 'where'] as const) {
    const value: unknown = (error as unknown as Record<string, unknown>)[field];
    if (value !== undefined) copy[field] = value;
  }
  return Object.assign(new Error(error.message), copy, { stack: error.stack });
}
