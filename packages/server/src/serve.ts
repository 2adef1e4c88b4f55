import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { type Logger, stderrLogger, WaybillError } from '@waybill/core';
import { asksWho } from './app.ts';
import { Connections } from './http/connections.ts';
import type { App } from './http/env.ts';
import { TrustedProxies } from './http/forwarded.ts';
import { bare, checkHostNames, isLoopback } from './http/hosts.ts';
import {
  type ConnectionLimits,
  endStalled,
  limitsOf,
  OLDEST_TLS,
  serverOptionsOf,
  tlsOptionsOf,
} from './http/limits.ts';
import { RequestBindings, type ServerBindings } from './http/request-bindings.ts';
import { TlsFiles, type TlsOptions } from './http/tls-files.ts';
import { grpcServer } from './rpc/connection/grpc-server.ts';

export interface ListenOptions extends ConnectionLimits {
  /** @defaultValue '127.0.0.1' */
  host?: string;
  /** 0 takes any free port. */
  port: number;
  /**
   * Port for gRPC, over HTTP/2: TLS where the server has it, else without (h2c). 0 takes any free one. Connect and gRPC-Web
   * are spoken on the other port in any case.
   * @defaultValue none
   */
  grpcPort?: number;
  /** Speak HTTPS, with TLS 1.2 and later. The files are read again when they change. @defaultValue plain HTTP */
  tls?: TlsOptions;
  /**
   * Believe what proxies say of their clients (`X-Forwarded-For`, `-Proto`, `-Host`). True: proxies are all addresses that
   * are not of the internet. Else a list of their addresses and ranges.
   * @defaultValue false
   */
  trustProxy?: boolean | readonly string[];
  /** @defaultValue stderrLogger */
  logger?: Logger;
  /** Listen beyond loopback although nobody has to show who they are. @defaultValue false */
  noAuth?: boolean;
  /**
   * Names that a request may give as its `Host`, besides those of loopback. Beyond loopback any name is allowed unless
   * this lists some.
   * @defaultValue []
   */
  allowedHosts?: readonly string[];
  /** How long `close` waits for requests under way. @defaultValue 10_000 */
  graceMs?: number;
}

export interface Listening {
  /** With the port that was really taken. */
  url: string;
  /** Of the port for gRPC; absent where none was asked for. */
  grpcUrl?: string;
  /** Takes no more connections, ends streams and long polls, waits for the rest with a bound. Idempotent. */
  close(): Promise<void>;
}

/** Puts the app on a port. Rejects with `conflict` when another process uses the port. */
export async function serve(app: App, options: ListenOptions): Promise<Listening> {
  const { host = '127.0.0.1', port, noAuth = false, allowedHosts = [], graceMs = 10_000, trustProxy = false } = options;
  if (!noAuth && !isLoopback(host) && !asksWho(app)) throw beyondLoopback(host);
  const limits = limitsOf(options);
  const hosts = checkHostNames(allowedHosts);
  const checksHost = isLoopback(host) || hosts.size > 0;
  const closing = new AbortController();
  const tls = options.tls && new TlsFiles(options.tls, options.logger ?? stderrLogger);
  const shared: ServerBindings = {
    closing: closing.signal,
    allowedHosts: checksHost ? hosts : undefined,
    proxies: trustProxy === false ? undefined : new TrustedProxies(trustProxy),
    isTls: tls !== undefined,
    mostConnections: limits.maxConnections,
    work: new Set(),
  };
  const fetch = (request: Request, { incoming, outgoing }: HttpBindings) => {
    const refusal = connections.refusalFor(incoming.socket);
    if (refusal) return new Response(refusal.body, refusal);
    return app.fetch(request, new RequestBindings(shared, incoming, outgoing));
  };
  const server = createAdaptorServer({
    fetch: fetch as (request: Request, env: unknown) => unknown,
    hostname: bare(host),
    ...(tls
      ? {
          createServer: createTlsServer,
          serverOptions: { ...serverOptionsOf(limits), ...tlsOptionsOf(limits), ...tls.first },
        }
      : { serverOptions: serverOptionsOf(limits) }),
  }) as Server;
  endStalled(server, limits);
  const connections = new Connections(server, limits, tls !== undefined);
  const address = await listen(server, port, bare(host));
  const grpc = await listenForGrpc().catch(async (error: unknown) => {
    await drain(server, connections, 0);
    throw error;
  });
  tls?.watch((pair) => {
    for (const one of [server, grpc?.server])
      (one as TlsServer | undefined)?.setSecureContext({ ...pair, ...OLDEST_TLS });
  });
  let closed: Promise<void> | undefined;
  return {
    url: `${tls ? 'https' : 'http'}://${nameOf(address)}`,
    ...(grpc && { grpcUrl: `${tls ? 'grpcs' : 'grpc'}://${nameOf(grpc.address)}` }),
    close: () => {
      closing.abort();
      tls?.stop();
      closed ??= Promise.all([drain(server, connections, graceMs), grpc?.drain(graceMs)]).then(() =>
        finished(shared.work),
      );
      return closed;
    },
  };

  async function listenForGrpc() {
    const { grpcPort, logger = stderrLogger } = options;
    if (grpcPort === undefined) return undefined;
    const made = grpcServer({ app, shared, limits, tls: tls?.first, logger });
    try {
      return { ...made, address: await listen(made.server, grpcPort, bare(host), '--grpc-port') };
    } catch (error) {
      await made.drain(0);
      throw error;
    }
  }
}

const nameOf = ({ family, address, port }: AddressInfo): string =>
  `${family === 'IPv6' ? `[${address}]` : address}:${port}`;

type PortToCheck = Pick<ListenOptions, 'host' | 'port'> & {
  /** How the port is named on the command line. @defaultValue '--port' */
  flag?: string;
};

/** Rejects as `serve` would, so that nothing else needs to be opened before. */
export async function checkPort({ host = '127.0.0.1', port, flag }: PortToCheck): Promise<void> {
  const probe = createServer();
  await listen(probe, port, bare(host), flag);
  await new Promise((resolve) => probe.close(resolve));
}

function beyondLoopback(host: string): WaybillError {
  const message = `Refusing to listen on ${host === '' ? 'every address' : host}: anybody who reaches it could use this server.`;
  const hint =
    'Listen on 127.0.0.1, make callers show a key (auth of createApp), or say noAuth when something else keeps strangers out.';
  return new WaybillError('forbidden', message, { hint });
}

function listen(server: NetServer, port: number, host: string, flag = '--port'): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => reject(cannotListen(error, port, host, flag));
    server.once('error', refused);
    server.listen(port, host, () => {
      server.off('error', refused);
      resolve(server.address() as AddressInfo);
    });
  });
}

function cannotListen(cause: NodeJS.ErrnoException, port: number, host: string, flag: string): Error {
  const where = `port ${port} of ${host === '' ? 'every address' : host}`;
  switch (cause.code) {
    case 'EADDRINUSE':
      return new WaybillError('conflict', `Cannot listen on ${where}: another process uses it.`, {
        hint: `Stop that process, or choose another port by ${flag}; 0 takes any free one.`,
        cause,
      });
    case 'EACCES':
      return new WaybillError('forbidden', `Cannot listen on ${where}: the operating system does not allow it.`, {
        hint: `Choose one from 1024 on with ${flag}, and let a proxy have the lower one.`,
        cause,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new WaybillError('invalid_request', `Cannot listen on ${where}: this machine has no such address.`, {
        hint: 'Name an address of this machine with --host, such as 127.0.0.1.',
        cause,
      });
    default:
      return cause;
  }
}

function drain(server: Server, connections: Connections, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const bound = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(bound);
      resolve();
    });
    connections.closeWhenIdle();
  });
}

/** What clients left behind, such as claims that never reached them. */
async function finished(work: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (work.size > 0) await Promise.allSettled(work);
}
