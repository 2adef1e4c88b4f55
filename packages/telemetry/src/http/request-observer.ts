/** As much of a request as a span is made from. Bodies, queries and other headers never get here: they may be secrets. */
export interface ObservedRequest {
  readonly method: string;
  readonly path: string;
  /** Undefined when it was not sent. */
  header(name: string): string | undefined;
}

export interface ObservedAnswer {
  status: number;
  /** The pattern of the route, such as `/ojs/v1/jobs/:id`; undefined where no route fits. */
  route: string | undefined;
  /** Present where the request was a call of the RPC interface. */
  rpc?: ObservedRpc | undefined;
}

export interface ObservedRpc {
  /** `grpc` or `connect_rpc`. */
  readonly system: string;
  readonly service: string;
  readonly method: string;
  /** Resolves when the call is over, for a stream after its last message: `OK`, or the code of gRPC, `NOT_FOUND`. */
  readonly status: Promise<string>;
}

/** Stands around every request of a server; the same shape as `RequestObserver` of @waybill/server. */
export type RequestObserver = (request: ObservedRequest, handle: () => Promise<ObservedAnswer>) => Promise<void>;
