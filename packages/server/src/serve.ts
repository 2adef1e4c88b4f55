import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { WaybillError } from '@waybill/core';
import { Connections } from './http/connections.ts';
import type { App } from './http/env.ts';
import { bare, checkHostNames, isLoopback } from './http/hosts.ts';
import { type ConnectionLimits, endStalled, limitsOf, serverOptionsOf } from './http/limits.ts';
import { RequestBindings, type ServerBindings } from './http/request-bindings.ts';

export interface ListenOptions extends ConnectionLimits {
  /** @defaultValue '127.0.0.1' */
  host?: string;
  /** 0 takes any free port. */
  port: number;
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
  /** Takes no more connections, ends streams and long polls, waits for the rest with a bound. Idempotent. */
  close(): Promise<void>;
}

/** Puts the app on a port. Rejects with `conflict` when another process uses the port. */
export async function serve(app: App, options: ListenOptions): Promise<Listening> {
  const { host = '127.0.0.1', port, noAuth = false, allowedHosts = [], graceMs = 10_000 } = options;
  if (!noAuth && !isLoopback(host)) throw beyondLoopback(host);
  const limits = limitsOf(options);
  const hosts = checkHostNames(allowedHosts);
  const checksHost = isLoopback(host) || hosts.size > 0;
  const closing = new AbortController();
  const shared: ServerBindings = {
    closing: closing.signal,
    allowedHosts: checksHost ? hosts : undefined,
    work: new Set(),
  };
  const fetch = (request: Request, { incoming, outgoing }: HttpBindings) => {
    const refusal = connections.refusalFor(incoming.socket);
    if (refusal) return new Response(refusal.body, refusal);
    return app.fetch(request, new RequestBindings(shared, outgoing));
  };
  const server = createAdaptorServer({
    fetch: fetch as (request: Request, env: unknown) => unknown,
    hostname: bare(host),
    serverOptions: serverOptionsOf(limits),
  }) as Server;
  endStalled(server, limits);
  const connections = new Connections(server, limits);
  const address = await listen(server, port, bare(host));
  let closed: Promise<void> | undefined;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    close: () => {
      closing.abort();
      closed ??= drain(server, connections, graceMs).then(() => finished(shared.work));
      return closed;
    },
  };
}

/** Rejects as `serve` would, so that nothing else needs to be opened before. */
export async function checkPort({ host = '127.0.0.1', port }: Pick<ListenOptions, 'host' | 'port'>): Promise<void> {
  const probe = createServer();
  await listen(probe, port, bare(host));
  await new Promise((resolve) => probe.close(resolve));
}

function beyondLoopback(host: string): WaybillError {
  const message = `Refusing to listen on ${host === '' ? 'every address' : host}: anybody who reaches it could use this server.`;
  const hint = 'Listen on 127.0.0.1, or say --no-auth (noAuth) when something else keeps strangers out.';
  return new WaybillError('forbidden', message, { hint });
}

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => reject(cannotListen(error, port, host));
    server.once('error', refused);
    server.listen(port, host, () => {
      server.off('error', refused);
      resolve(server.address() as AddressInfo);
    });
  });
}

function cannotListen(cause: NodeJS.ErrnoException, port: number, host: string): Error {
  const where = `port ${port} of ${host === '' ? 'every address' : host}`;
  switch (cause.code) {
    case 'EADDRINUSE':
      return new WaybillError('conflict', `Cannot listen on ${where}: another process uses it.`, {
        hint: 'Stop that process, or choose another port by --port; 0 takes any free one.',
        cause,
      });
    case 'EACCES':
      return new WaybillError('forbidden', `Cannot listen on ${where}: the operating system does not allow it.`, {
        hint: 'Choose one from 1024 on with --port, and let a proxy have the lower one.',
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
