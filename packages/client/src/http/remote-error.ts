import type { ErrorCode } from '@waybill/core';
import type { ErrorFacts } from '../error-wire.ts';

/** Codes after which the same call may succeed later without any change by the caller, as the engine has them. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'resource_exhausted', 'unavailable', 'timeout']);

/**
 * What WaybillError is to the engine, for callers of a server: the same name and fields. It is a class of its own,
 * since this client runs where the engine does not; tell errors apart by `code`, not by `instanceof`.
 */
export class RemoteError extends Error {
  override readonly name = 'WaybillError';
  readonly code: ErrorCode;
  readonly details: Record<string, unknown> | undefined;
  readonly hint: string | undefined;
  /** Names the request in the server's log; absent when no server has answered. */
  readonly requestId: string | undefined;

  constructor({ code, message, details, hint, requestId }: ErrorFacts, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
    this.hint = hint;
    this.requestId = requestId;
  }

  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }
}

export const invalid = (message: string): RemoteError => new RemoteError({ code: 'invalid_request', message });

/** Whether nothing is known about the effect of the call: no answer came, or one from somebody in between. */
export const isLost = (error: unknown): error is RemoteError =>
  error instanceof RemoteError && (error.code === 'unavailable' || error.code === 'timeout');
