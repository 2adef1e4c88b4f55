/** Every way in which a call can be refused. Each surface maps these to its own words in one table. */
export const ERROR_CODES = [
  'invalid_request',
  'invalid_payload',
  'validation_error',
  'payload_too_large',
  'unsupported',
  'not_found',
  'payload_missing',
  'conflict',
  'duplicate',
  'lease_lost',
  'queue_paused',
  'rate_limited',
  'resource_exhausted',
  'unavailable',
  'timeout',
  'unauthenticated',
  'forbidden',
  'internal',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Codes after which the same call may succeed later without any change by the caller. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'resource_exhausted', 'unavailable', 'timeout']);

export interface ErrorOptions {
  /** Facts for the caller: field, bound, ids. Never secrets, never a stack. */
  details?: Record<string, unknown>;
  /** What to do about it, in one sentence. */
  hint?: string;
  /** Kept for logs, never sent to a caller. */
  cause?: unknown;
}

/** The one error class of the project. */
export class WaybillError extends Error {
  override readonly name = 'WaybillError';
  readonly code: ErrorCode;
  readonly details: Record<string, unknown> | undefined;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.hint = options.hint;
  }

  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }

  /** Turns anything thrown into a WaybillError; what we do not know becomes `internal` with its text kept off the wire. */
  static from(reason: unknown): WaybillError {
    if (reason instanceof WaybillError) return reason;
    if (isRefusal(reason)) {
      const { code, message, details, hint } = reason;
      return new WaybillError(code, message, { ...(details && { details }), ...(hint && { hint }), cause: reason });
    }
    return new WaybillError('internal', 'The server met an unexpected error.', { cause: reason });
  }
}

/** By its fields: the remote client, which runs where this package does not, has an error class of its own. */
const isRefusal = (reason: unknown): reason is WaybillError =>
  reason instanceof Error &&
  reason.name === 'WaybillError' &&
  'code' in reason &&
  ERROR_CODES.some((code) => code === reason.code);

/** Names the field and the bound it broke, the same way everywhere. */
export function invalidField(field: string, problem: string, details: Record<string, unknown> = {}): WaybillError {
  return new WaybillError('invalid_request', `'${field}' ${problem}`, { details: { field, ...details } });
}
