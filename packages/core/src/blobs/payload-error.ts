import { WaybillError } from '../errors.ts';

/** A payload could not be read from the blob store or written to it; the store of the rows may be well. */
export class PayloadError extends WaybillError {}

/** A failure of the blob store. What was not worded for callers stays as it is. */
export function payloadFailure(cause: unknown): unknown {
  if (!(cause instanceof WaybillError)) return cause;
  const { code, message, details, hint } = cause;
  return new PayloadError(code, message, { ...(details && { details }), ...(hint !== undefined && { hint }), cause });
}
