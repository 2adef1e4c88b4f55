import { constants, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Stream } from 'node:http2';
import type { ConnectionLimits } from '../../http/limits.ts';
import { SERVICES } from '../methods.ts';

/** As HTTP/2 counts it: each header costs this much more than its name and its value. */
const HEADER_COST = 32;

const KINDS: ReadonlyMap<string, string> = new Map(
  SERVICES.flatMap(({ typeName, methods }) =>
    methods.map(({ name, methodKind }) => [`/${typeName}/${name}`, methodKind] as const),
  ),
);

const kindOf = ({ url }: Http2ServerRequest): string | undefined => KINDS.get(url.split('?', 1)[0]!);

/**
 * Bounds how long a call waits for its message: by HTTP/2 alone, a client may hold it open as long as it answers pings.
 * Answers false where the call was refused.
 */
export function boundMessage(
  request: Http2ServerRequest,
  { stream }: Http2ServerResponse,
  { maxHeaderBytes, requestTimeoutMs }: Required<ConnectionLimits>,
): boolean {
  // Node does the same, but only once the client has confirmed the size that it may use.
  if (headBytes(request) > maxHeaderBytes) {
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    return false;
  }
  const kind = kindOf(request);
  // A stream of the client goes on as long as the client likes.
  if (kind === 'unary' || kind === 'server_streaming')
    endUnless(stream, ({ state }) => state.remoteClose === 1, requestTimeoutMs);
  return true;
}

/** Bounds how long an answer waits for its client. A stream to the client may be silent for long. */
export function boundAnswer(
  request: Http2ServerRequest,
  { stream }: Http2ServerResponse,
  { stalledTimeoutMs }: Required<ConnectionLimits>,
): void {
  if (kindOf(request) === 'unary') endUnless(stream, ({ state }) => state.localClose === 1, stalledTimeoutMs);
}

function headBytes({ rawHeaders }: Http2ServerRequest): number {
  return rawHeaders.reduce((sum, text) => sum + Buffer.byteLength(text), (rawHeaders.length / 2) * HEADER_COST);
}

/** Clients take the code for `RESOURCE_EXHAUSTED`. */
function endUnless(stream: ServerHttp2Stream, isOver: (stream: ServerHttp2Stream) => boolean, ms: number): void {
  // The client has left.
  if (stream.closed || stream.destroyed) return;
  const timer = setTimeout(() => {
    if (!stream.destroyed && !isOver(stream)) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }, ms).unref();
  stream.once('close', () => clearTimeout(timer));
}
