import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { UniversalServerRequest } from '@connectrpc/connect/protocol';
import { RequestBindings, type ServerBindings } from '../../http/request-bindings.ts';
import type { RpcRequest } from '../../http/rpc-request.ts';

/** What the app gets with a request that came by HTTP/2. */
export class GrpcBindings extends RequestBindings {
  readonly rpc: RpcRequest;
  readonly #response: Http2ServerResponse;

  constructor(
    shared: ServerBindings,
    request: Http2ServerRequest,
    response: Http2ServerResponse,
    call: UniversalServerRequest,
  ) {
    // Of both, only what the two kinds of requests have in common is used.
    super(shared, request as unknown as IncomingMessage, response as unknown as ServerResponse);
    this.rpc = { request: call };
    this.#response = response;
  }

  /** Of a request over HTTP/2, `socket` is another object for each call. */
  override get connection(): object | undefined {
    return this.#response.stream.session;
  }

  /** Ends the one call, and not its connection. Clients take this code for `RESOURCE_EXHAUSTED`, and try again later. */
  override cut(): void {
    this.#response.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  override delivered(): Promise<boolean> {
    const { stream } = this.#response;
    const isWhole = () => stream.writableFinished && stream.rstCode === 0;
    if (stream.closed || stream.destroyed) return Promise.resolve(isWhole());
    return new Promise((resolve) => {
      stream.once('finish', () => resolve(true));
      stream.once('close', () => resolve(isWhole()));
    });
  }
}
