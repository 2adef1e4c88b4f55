import { type ErrorCode, WaybillError } from '@waybill/core';

/** An error as it travels between threads, where classes and prototypes get lost. */
export interface Failure {
  code: ErrorCode;
  message: string;
  hint?: string;
  /** For the log. */
  cause?: string;
}

/** SQLite's primary result codes that tell something about the file and not about the call. */
const BUSY = 5;
const LOCKED = 6;
const FULL = 13;
const NOT_A_DATABASE = 26;

/** IOERR_SHMSIZE: no room for the index of the write-ahead log, which SQLite does not count as a full disk. */
const NO_ROOM_FOR_INDEX = 10 | (19 << 8);

const KNOWN: Readonly<Record<number, Failure>> = {
  3: { code: 'unavailable', message: 'Access to the database file was denied.' },
  [BUSY]: {
    code: 'unavailable',
    message: 'The database file stayed locked by another process.',
    hint: 'Look for a long transaction in another program that has the file open.',
  },
  [LOCKED]: { code: 'unavailable', message: 'The database is locked.' },
  8: { code: 'unavailable', message: 'The database file cannot be written to.', hint: 'Check its permissions.' },
  7: { code: 'resource_exhausted', message: 'SQLite ran out of memory.', hint: 'Give the process more memory.' },
  10: { code: 'unavailable', message: 'The disk gave an error while the database was used.' },
  11: { code: 'unsupported', message: 'The database file is damaged.', hint: 'Restore it from a backup.' },
  [FULL]: {
    code: 'resource_exhausted',
    message: 'The disk is full; nothing of this call was stored.',
    hint: 'Free disk space where the database file is, then try again.',
  },
  14: {
    code: 'unavailable',
    message: 'The database file cannot be opened.',
    hint: 'Check the path and its permissions.',
  },
  18: { code: 'payload_too_large', message: 'A value is larger than SQLite can keep.' },
  [NOT_A_DATABASE]: { code: 'unsupported', message: 'The file is not an SQLite database.', hint: 'Check the path.' },
};

/** The primary code of an error that `node:sqlite` threw; its upper bits only say where it happened. */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode === NO_ROOM_FOR_INDEX ? FULL : error.errcode & 0xff;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === BUSY || code === LOCKED;
}

/** Whether an error tells something about the file, and nothing about what was asked of it. */
export const isOfTheFile = (error: unknown): boolean => KNOWN[sqliteCode(error) ?? -1] !== undefined;

export function failureOf(error: unknown, path: string): Failure {
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (error instanceof WaybillError) {
    const { code, message, hint } = error;
    return hint === undefined ? { code, message, cause } : { code, message, hint, cause };
  }
  const known = KNOWN[sqliteCode(error) ?? -1];
  if (known) return { ...known, message: `${known.message} (${path})`, cause };
  return { code: 'internal', message: 'The SQLite store met an unexpected error.', cause };
}

export function errorOf({ code, message, hint, cause }: Failure): WaybillError {
  return new WaybillError(code, message, { cause, ...(hint === undefined ? {} : { hint }) });
}
