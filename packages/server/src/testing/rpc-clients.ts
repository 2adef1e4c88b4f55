import type { DescService } from '@bufbuild/protobuf';
import { type Client, createClient, type Interceptor, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from '@connectrpc/connect-node';
import { JobEventsService, JobService, LogService, WorkerService } from '@waybill/protocol';
import { onTestFinished } from 'vitest';

export interface RpcClients {
  jobs: Client<typeof JobService>;
  workers: Client<typeof WorkerService>;
  events: Client<typeof JobEventsService>;
  log: Client<typeof LogService>;
  of<S extends DescService>(service: S): Client<S>;
}

const withHeaders =
  (headers: Record<string, string>): Interceptor =>
  (next) =>
  (request) => {
    for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
    return next(request);
  };

/** Clients of one server; what they keep open is closed with the test. */
export function rpcClients(transport: Transport): RpcClients {
  const of = <S extends DescService>(service: S): Client<S> => createClient(service, transport);
  return { jobs: of(JobService), workers: of(WorkerService), events: of(JobEventsService), log: of(LogService), of };
}

export function grpcClients(grpcUrl: string, headers: Record<string, string> = {}): RpcClients & { abort(): void } {
  const baseUrl = grpcUrl.replace('grpc', 'http');
  const sessionManager = new Http2SessionManager(baseUrl);
  onTestFinished(() => sessionManager.abort());
  const transport = createGrpcTransport({ baseUrl, sessionManager, interceptors: [withHeaders(headers)] });
  return { ...rpcClients(transport), abort: () => sessionManager.abort() };
}

export const connectClients = (baseUrl: string, useBinaryFormat: boolean): RpcClients =>
  rpcClients(createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat }));

export const grpcWebClients = (baseUrl: string): RpcClients =>
  rpcClients(createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }));

/** Everything that a stream tells until its end. */
export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
