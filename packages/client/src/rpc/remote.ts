import type { Health } from '@waybill/core';
import { JobService, health as protocol } from '@waybill/protocol';
import type { RemoteWaybill } from '../http/remote.ts';
import { RemoteError } from '../http/remote-error.ts';
import { events } from './events.ts';
import { jobs } from './jobs.ts';
import { RpcCalls, type RpcCallsOptions } from './rpc-calls.ts';
import { unsupported } from './unsupported.ts';

const { Health: HealthService, HealthCheckResponse_ServingStatus: Status } = protocol;

export interface RpcRemoteOptions extends RpcCallsOptions {
  /** The tenant of calls that name none. @defaultValue '' */
  tenant?: string;
  /** An API key, or a token that the server takes; sent as `authorization: Bearer`. @defaultValue none */
  key?: string;
  /** Sent with every call as metadata, e.g. for a proxy in front of the server. */
  headers?: Record<string, string>;
  /** Asked for more headers at every call, e.g. `traceparent`. It must not throw. @defaultValue none */
  callHeaders?: () => Record<string, string>;
  /** How long a call may take with its repetitions, beside what a claim was told to wait. @defaultValue 30_000 */
  timeoutMs?: number;
  /** Called when a stream has lost its server, and when it is back. @defaultValue none */
  logger?: NonNullable<RpcCallsOptions['logger']>;
  /** Called for each call that takes longer than `afterMs`. @defaultValue none */
  slow?: NonNullable<RpcCallsOptions['slow']>;
  /** How to wait before a repetition; for tests. @defaultValue by a timer */
  sleep?: NonNullable<RpcCallsOptions['sleep']>;
}

/**
 * A Waybill server, spoken to by gRPC over one HTTP/2 connection: `grpc://HOST:PORT`, or `grpcs://` with TLS. What workers
 * and producers need of the port is there and answers as over HTTP; the rest refuses with `unsupported`.
 */
export function rpcRemote(url: string, options: RpcRemoteOptions = {}): RemoteWaybill {
  const calls = new RpcCalls(url, options);
  return {
    ...unsupported(),
    jobs: jobs(calls),
    events: events(calls),
    health: () => healthOf(calls),
    /** Ends streams and waiting claims, waits for calls under way, closes the connection. The server goes on. */
    close: () => calls.close(),
  };
}

async function healthOf(calls: RpcCalls): Promise<Health> {
  const tenant = calls.tenantOf(undefined);
  const begun = performance.now();
  const { status } = await calls.call(HealthService.method.check, {}, { tenant, repeatable: true });
  const latencyMs = Math.round(performance.now() - begun);
  if (calls.hasKey) await checkKey(calls, tenant);
  const isServing = status === Status.SERVING;
  // The protocol tells no more than this. What is wrong stands in the log of the server, and on its HTTP address.
  const store = { name: 'server', status: isServing ? ('ok' as const) : ('unhealthy' as const), latencyMs };
  return { status: isServing ? 'ok' : 'degraded', store };
}

/** Anybody may ask for the health. A call that is wrong in itself tells whether the key is known, and touches nothing. */
async function checkKey(calls: RpcCalls, tenant: string): Promise<void> {
  await calls.call(JobService.method.getJob, {}, { tenant }).catch((error: unknown) => {
    if (error instanceof RemoteError && error.code === 'unauthenticated') throw error;
  });
}
