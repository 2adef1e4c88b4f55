import { errorToWire } from '@waybill/client';
import { newJobId, WaybillError } from '@waybill/core';
import { MEDIA_TYPE, OJS_VERSION } from './headers.ts';

/** An answer that the app has no part in: the request never was one, or there is no room for it. */
export interface Refusal {
  status: number;
  headers: Record<string, string>;
  body: string;
}

function refusal(status: number, error: WaybillError): Refusal {
  const requestId = `req_${newJobId(Date.now())}`;
  return {
    status,
    headers: {
      'Content-Type': MEDIA_TYPE,
      'OJS-Version': OJS_VERSION,
      'X-Request-Id': requestId,
      ...(error.retryable && { 'Retry-After': '1' }),
      Connection: 'close',
    },
    body: JSON.stringify(errorToWire(error, requestId)),
  };
}

export const noRoom = (maxConnections: number): Refusal =>
  refusal(
    503,
    new WaybillError('unavailable', `All ${maxConnections} connections of this server are in use.`, {
      hint: 'Try again later, or start the server with a higher limit of connections.',
    }),
  );

export const tooManyAtOnce = (maxPipelined: number): Refusal =>
  refusal(
    429,
    new WaybillError('resource_exhausted', `A connection may have ${maxPipelined} requests under way at once.`, {
      hint: 'Wait for answers before sending more, or use several connections.',
    }),
  );

/** What Node's parser or its timers say against a request, by the code of the error. */
export function refusalOf(code: string | undefined): Refusal {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refusal(408, new WaybillError('timeout', 'The request did not arrive in time.'));
    case 'HPE_HEADER_OVERFLOW':
      return refusal(431, new WaybillError('invalid_request', 'The headers of the request are too large.'));
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return refusal(413, new WaybillError('payload_too_large', 'The chunks of the body have too large extensions.'));
    default:
      return refusal(400, new WaybillError('invalid_request', 'This is not a valid HTTP request.'));
  }
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
};

/** As bytes, for a socket without an answer of Node's own. */
export function rawAnswer({ status, headers, body }: Refusal): string {
  const lines = Object.entries({ ...headers, 'Content-Length': String(Buffer.byteLength(body)) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${status} ${REASONS[status] ?? ''}\r\n${head}\r\n${body}`;
}
