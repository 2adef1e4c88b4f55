import { ERROR_CODES, type ErrorCode } from '../errors.ts';
import { classOfSqliteResult, classOfSqlState } from './database-codes.ts';
import type { ErrorClass } from './error-class.ts';
import { classOfNodeCode } from './node-codes.ts';
import { namesOf, read, readName, readPath } from './safe-read.ts';
import { classOfApiType, classOfServiceName } from './service-codes.ts';

/** Refusals of this project. What lost a race, or waits for an operator, is left to the retry policy. */
const WAYBILL: Readonly<Record<ErrorCode, ErrorClass>> = {
  invalid_request: 'validation',
  invalid_payload: 'validation',
  validation_error: 'validation',
  payload_too_large: 'validation',
  unsupported: 'validation',
  not_found: 'not_found',
  payload_missing: 'not_found',
  conflict: 'unknown',
  duplicate: 'unknown',
  lease_lost: 'unknown',
  queue_paused: 'unknown',
  rate_limited: 'rate_limit',
  resource_exhausted: 'rate_limit',
  unavailable: 'server_error',
  timeout: 'timeout',
  unauthenticated: 'auth',
  forbidden: 'auth',
  internal: 'server_error',
};

/** Codes of refusals that may stand around the error of another library, which then says more. */
const WRAPPERS: readonly ErrorCode[] = ['internal', 'unsupported'];

/** The words of `WaybillError` are common ones, so they count only under its name. */
function refusalOf(error: unknown): ErrorCode | undefined {
  const code = readName(error, 'name') === 'WaybillError' ? readName(error, 'code') : undefined;
  return ERROR_CODES.find((one) => one === code);
}

export function isWrapper(error: unknown): boolean {
  const code = refusalOf(error);
  return code !== undefined && WRAPPERS.includes(code);
}

/** What an error says by a code: that of a refusal, of the machine, of a service or of a database. */
export function classOfCodes(error: unknown): ErrorClass | undefined {
  const refusal = refusalOf(error);
  if (refusal !== undefined) return WAYBILL[refusal];
  return classOfOwnCode(error) ?? classOfServiceError(error) ?? classOfDatabaseError(error);
}

function classOfOwnCode(error: unknown): ErrorClass | undefined {
  const code = readName(error, 'code');
  return code === undefined ? undefined : classOfNodeCode(code);
}

function classOfServiceError(error: unknown): ErrorClass | undefined {
  for (const name of [...namesOf(error), readName(error, 'code'), readName(error, 'Code')]) {
    const found = name === undefined ? undefined : classOfServiceName(name);
    if (found !== undefined) return found;
  }
  if (readPath(error, '$retryable', 'throttling') === true) return 'rate_limit';
  // The type stands on the error of an SDK, and in the body that it keeps, which may be wrapped once more.
  for (const body of [error, read(error, 'error'), readPath(error, 'error', 'error')]) {
    const found = classOfApiType(readName(body, 'type') ?? '');
    if (found !== undefined) return found;
  }
  return undefined;
}

function classOfDatabaseError(error: unknown): ErrorClass | undefined {
  const code = readName(error, 'code') ?? '';
  // Five characters alone may be any code, so the severity must be there as PostgreSQL sends it.
  if (/^[0-9A-Z]{5}$/.test(code) && typeof read(error, 'severity') === 'string') return classOfSqlState(code);
  const errcode = read(error, 'errcode');
  if (code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number') return classOfSqliteResult(errcode);
  return undefined;
}
