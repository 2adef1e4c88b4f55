import type { UniversalServerRequest, UniversalServerResponse } from '@connectrpc/connect/protocol';

/** A call that came by HTTP/2: the app decides about it by its headers, and its messages pass the app by. */
export interface RpcRequest {
  readonly request: UniversalServerRequest;
  /** Set by the app where it let the call through. */
  response?: UniversalServerResponse;
}

/** As much of a call of the RPC interface as observers may see: none of its messages. */
export interface ObservedRpc {
  /** As OpenTelemetry names the protocol. gRPC-Web counts as gRPC. */
  readonly system: 'grpc' | 'connect_rpc';
  /** Such as `waybill.v1.JobService`. */
  readonly service: string;
  /** Such as `GetJob`. */
  readonly method: string;
  /** Resolves when the call is over, for a stream after its last message: `OK`, or the code of gRPC, `NOT_FOUND`. */
  readonly status: Promise<string>;
}
