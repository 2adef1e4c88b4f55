import {
  constants,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Stream,
} from 'node:http2';
import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from '@connectrpc/connect-node';
import type { Logger } from '@waybill/core';
import type { App } from '../../http/env.ts';
import { type ConnectionLimits, OLDEST_TLS } from '../../http/limits.ts';
import type { ServerBindings } from '../../http/request-bindings.ts';
import { boundAnswer, boundMessage } from './call-bounds.ts';
import { GrpcBindings } from './grpc-bindings.ts';
import { type SessionLimits, Sessions } from './sessions.ts';

/** Calls that one connection may have open at once; clients open another connection for more. */
const MOST_STREAMS = 256;
/** Longer than most pauses between two calls of a client, and shorter than what firewalls forget. */
const SESSION_LIMITS = { idleMs: 300_000, pingMs: 15_000 };
/** Connections beyond the limit that may agree on a key, before the longest idle one makes room for them. */
const SPARE_CONNECTIONS = 128;

interface GrpcServerParts {
  app: App;
  shared: ServerBindings;
  limits: Required<ConnectionLimits>;
  /** Absent: plain HTTP/2, which clients must speak from the first byte on (h2c). */
  tls?: { key: Buffer | string; cert: Buffer | string } | undefined;
  logger: Logger;
  sessions?: Partial<SessionLimits> | undefined;
}

export interface GrpcServer {
  server: Http2Server | Http2SecureServer;
  /** Takes no more calls, and resolves when those under way are over or the time has passed. */
  drain(graceMs: number): Promise<void>;
}

/** gRPC, gRPC-Web and Connect over HTTP/2. The app decides about each call by its headers; its messages pass it by. */
export function grpcServer({ app, shared, limits, tls, logger, sessions: sessionLimits }: GrpcServerParts): GrpcServer {
  const answer = async (request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> => {
    const call = universalRequestFromNodeRequest(request, response, undefined, undefined);
    const headers = new Headers(call.header);
    headers.set('host', request.authority);
    const bindings = new GrpcBindings(shared, request, response, call);
    endWithAnswer(response.stream);
    const head = new Request(call.url, { method: call.method, headers, signal: call.signal });
    const decided = await app.fetch(head, bindings);
    boundAnswer(request, response, limits);
    await send(bindings.rpc.response ?? plain(decided), decided.headers, response);
  };
  const listener = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
    if (!boundMessage(request, response, limits)) return;
    answer(request, response).catch((err: unknown) => {
      // Most often the client has left, and its stream is closed already.
      logger.debug({ err }, 'A call of the port for gRPC broke off.');
      response.stream?.close();
    });
  };
  const options = {
    settings: { maxConcurrentStreams: MOST_STREAMS, maxHeaderListSize: limits.maxHeaderBytes },
    maxSendHeaderBlockLength: limits.maxHeaderBytes * 4,
    unknownProtocolTimeout: limits.headersTimeoutMs,
  };
  const server = tls
    ? createSecureServer({ ...options, ...tls, ...OLDEST_TLS, handshakeTimeout: limits.headersTimeoutMs }, listener)
    : createServer(options, listener);
  server.maxConnections = limits.maxConnections + SPARE_CONNECTIONS;
  const bounds = { prefaceMs: limits.headersTimeoutMs, most: limits.maxConnections };
  const sessions = new Sessions(server, { ...SESSION_LIMITS, ...bounds, ...sessionLimits });
  return {
    server,
    drain: (graceMs) =>
      new Promise((resolve) => {
        const bound = setTimeout(() => sessions.destroy(), graceMs);
        server.close(() => {
          clearTimeout(bound);
          resolve();
        });
        sessions.close();
      }),
  };
}

/**
 * A call that was answered is over, also where its client has more to send: without this the client could send for ever into a
 * call of which nothing is read any more. The trailers are handed over in the same event, before the setImmediate.
 */
function endWithAnswer(stream: ServerHttp2Stream): void {
  stream.once('wantTrailers', () =>
    setImmediate(() => {
      const isWhole = stream.closed || stream.destroyed || stream.state.remoteClose === 1;
      if (isWhole) return;
      stream.close(constants.NGHTTP2_NO_ERROR);
      // As long as something that has come is not read, the stream would stay, and its connection with it.
      setImmediate(() => stream.destroy());
    }),
  );
}

/** A path that is no method: gRPC clients read the status. */
const plain = ({ status, headers, body }: Response): UniversalServerResponse => ({
  status,
  header: headers,
  ...(body && { body: body as AsyncIterable<Uint8Array<ArrayBuffer>> }),
});

/** The headers of the app (request id, limits, tenant) go along where the protocol has none of that name. */
function send(answer: UniversalServerResponse, decided: Headers, response: Http2ServerResponse): Promise<void> {
  const header = new Headers(answer.header);
  for (const [name, value] of decided) if (!header.has(name)) header.set(name, value);
  return universalResponseToNodeResponse({ ...answer, header }, response);
}
