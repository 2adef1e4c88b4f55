import { Code, ConnectError } from '@connectrpc/connect';
import { ErrorInfoSchema } from '@waybill/protocol';
import { errorFromWire } from '../error-wire.ts';
import { tooLate } from '../http/attempts.ts';
import { causesOf, NO_COMMON_PROTOCOL, noAnswer } from '../http/no-answer.ts';
import { invalid, RemoteError } from '../http/remote-error.ts';

/** What a refusal of ours always has; without it the error is one of the transport, or of something in between. */
const CODE_HEADER = 'waybill-code';

/** What a call has ended with, as the error that the HTTP client would have thrown. */
export function remoteError(
  reason: unknown,
  { server, allowedMs }: { server: string; allowedMs: number },
): RemoteError {
  if (reason instanceof RemoteError) return reason;
  const error = ConnectError.from(reason);
  const [info] = error.findDetails(ErrorInfoSchema);
  const code = info?.code ?? error.metadata.get(CODE_HEADER);
  if (code) {
    const { details, hint, requestId: request_id } = info ?? {};
    const wire = { code, message: error.rawMessage, details, ...(hint && { hint }), ...(request_id && { request_id }) };
    return new RemoteError(errorFromWire({ error: wire }, 500), error);
  }
  return ofTransport(error, server, allowedMs);
}

const TOO_LARGE = /(?:read|write)MaxBytes/;
const NOT_SENT = /^serialize binary: /;

function ofTransport(error: ConnectError, server: string, allowedMs: number): RemoteError {
  const message = error.rawMessage;
  switch (error.code) {
    case Code.DeadlineExceeded:
      return tooLate(server, allowedMs);
    case Code.Unauthenticated:
      return new RemoteError({ code: 'unauthenticated', message }, error);
    case Code.PermissionDenied:
      return new RemoteError({ code: 'forbidden', message }, error);
    case Code.InvalidArgument:
      return new RemoteError({ code: 'invalid_request', message }, error);
    case Code.ResourceExhausted:
      return new RemoteError({ code: TOO_LARGE.test(message) ? 'payload_too_large' : 'rate_limited', message }, error);
    case Code.Unimplemented:
      return noWaybill(server, error);
    default:
      if (NOT_SENT.test(message)) return invalid(`The request cannot be sent: ${message.replace(NOT_SENT, '')}.`);
      return isOtherProtocol(error) ? wrongPort(server, error) : noAnswer(server, error);
  }
}

/** What answers is none of ours, or older than the method: a proxy may also have lost its server. */
const noWaybill = (server: string, cause: unknown): RemoteError => {
  const message = `What answered at ${server} is no Waybill server, or one that does not know this call.`;
  return new RemoteError({ code: 'unavailable', message, hint: CHECK_PORT }, cause);
};

const wrongPort = (server: string, cause: unknown): RemoteError => {
  const message = `What answered at ${server} does not speak HTTP/2.`;
  const hint = `This looks like the HTTP port. Use ${server.replace(/^grpc/, 'http')}, or the port that \`waybill serve --grpc-port\` names.`;
  return new RemoteError({ code: 'unavailable', message, hint }, cause);
};

const CHECK_PORT = 'Check the port: gRPC has one of its own, which `waybill serve --grpc-port` names.';

/** Node says so of bytes that are no frames, such as an answer of HTTP/1.1. */
function isOtherProtocol(error: unknown): boolean {
  for (const { code, message } of causesOf(error))
    if (code === NO_COMMON_PROTOCOL || (code === 'ERR_HTTP2_ERROR' && message === 'Protocol error')) return true;
  return false;
}
