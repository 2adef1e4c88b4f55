import { byKey, type ErrorClass, firstIn } from './error-class.ts';

/**
 * Codes of PostgreSQL (SQLSTATE): a whole code before its class, which is its first two characters. A transaction that
 * lost against another one (40) is a server error, since the server asks for it once more.
 */
const SQLSTATE = byKey({
  network: ['08'],
  auth: ['28', '42501'],
  validation: ['22', '23', '54'],
  programming: ['42', '0A', '26', '34'],
  not_found: ['3D', '3F'],
  timeout: ['57014', '55P03', '25P03', '25P04', '57P05'],
  server_error: ['40', '53', '57', '58', 'XX', '25006'],
});

export const classOfSqlState = (code: string): ErrorClass | undefined => firstIn(SQLSTATE, [code, code.slice(0, 2)]);

/** Primary result codes of SQLite, of which an extended one keeps the lowest byte. */
const SQLITE: ReadonlyMap<number, ErrorClass> = new Map([
  [5, 'timeout'], // SQLITE_BUSY: another connection has held the lock for longer than the call waits
  [6, 'timeout'], // SQLITE_LOCKED
  [10, 'server_error'], // SQLITE_IOERR
  [13, 'server_error'], // SQLITE_FULL
  [18, 'validation'], // SQLITE_TOOBIG
  [19, 'validation'], // SQLITE_CONSTRAINT
  [20, 'validation'], // SQLITE_MISMATCH
]);

export const classOfSqliteResult = (errcode: number): ErrorClass | undefined => SQLITE.get(errcode & 0xff);
