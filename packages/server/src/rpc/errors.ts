import type { DescMethod, JsonObject } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { ERROR_TABLE, errorToWire } from '@waybill/client';
import { type Logger, WaybillError } from '@waybill/core';
import { ErrorInfoSchema } from '@waybill/protocol';
import { withoutSecretsIn } from '../http/answer.ts';
import type { RpcCall } from './call.ts';
import { catalogued } from './malformed.ts';

/** For clients that cannot read details of errors: the code of the catalogue, among the trailing metadata. */
export const CODE_HEADER = 'waybill-code';

/** Turns what was thrown into an error of the protocol with the code, details and hint of the catalogue. */
export function toConnectError(reason: unknown, { c }: Pick<RpcCall, 'c'>): ConnectError {
  // Connect has found something wrong with the message, see `reword`; or the deadline has passed.
  if (reason instanceof ConnectError) return reason;
  if (isHangUp(reason)) return new ConnectError('The client has ended the call.', Code.Canceled);
  const error = WaybillError.from(reason);
  const { code, message, retryable, details, hint, request_id: requestId } = wireOf(error, c.get('requestId'));
  const info = { code, retryable, hint, requestId, ...(details && { details: details as JsonObject }) };
  const retryAfter = c.get('retryAfter');
  const metadata = { [CODE_HEADER]: code, ...(retryAfter !== undefined && { 'retry-after': retryAfter }) };
  return new ConnectError(message, Code[ERROR_TABLE[code].rpc], metadata, [{ desc: ErrorInfoSchema, value: info }]);
}

const HANG_UPS = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ABORT_ERR']);

/** A client that dies in the middle of a call is no fault of the server. */
const isHangUp = (reason: unknown): boolean =>
  reason instanceof Error &&
  !(reason instanceof WaybillError) &&
  HANG_UPS.has((reason as NodeJS.ErrnoException).code ?? '');

/** Half a character, which JSON may have, can stand in neither a header nor a message: an error that quotes one would be lost. */
const HALF_CHARACTERS = /\p{Surrogate}/gu;

const wireOf = (error: WaybillError, requestId: string): ReturnType<typeof errorToWire>['error'] =>
  JSON.parse(JSON.stringify(errorToWire(withoutSecretsIn(error), requestId).error), (_, value: unknown) =>
    typeof value === 'string' ? value.replace(HALF_CHARACTERS, '\ufffd') : value,
  );

/** Gives an error that Connect has made the code, words and details of the catalogue, in place. */
export function reword(error: ConnectError, method: DescMethod, call: RpcCall): void {
  if (error.metadata.has(CODE_HEADER)) return;
  const known = catalogued(error, method);
  if (known === undefined) return;
  const { code, message, rawMessage, metadata, details } = toConnectError(known, call);
  Object.assign(error, { code, message, rawMessage, details });
  for (const [name, value] of metadata) error.metadata.set(name, value);
}

/** Bodies are never logged: they may hold secrets. */
export function logInternal(logger: Logger, reason: unknown, { c }: Pick<RpcCall, 'c'>): void {
  if (reason instanceof ConnectError || isHangUp(reason)) return;
  const error = WaybillError.from(reason);
  if (error.code !== 'internal') return;
  const facts = { request_id: c.get('requestId'), path: c.req.path, err: error.cause ?? error };
  logger.error(facts, 'A remote call failed unexpectedly.');
}
