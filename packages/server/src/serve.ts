import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { WaybillError } from '@waybill/core';
import { Connections } from './http/connections.ts';
import type { App, Bindings } from './http/env.ts';
import { bare, checkHostNames, isLoopback } from './http/hosts.ts';

export interface ListenOptions {
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

/** Puts the app on a port. Rejects with Node's own error when the port is taken. */
export async function serve(app: App, options: ListenOptions): Promise<Listening> {
  const { host = '127.0.0.1', port, noAuth = false, allowedHosts = [], graceMs = 10_000 } = options;
  if (!noAuth && !isLoopback(host)) throw beyondLoopback(host);
  const closing = new AbortController();
  const hosts = checkHostNames(allowedHosts);
  const checksHost = isLoopback(host) || hosts.size > 0;
  const bindings: Bindings = { closing: closing.signal, ...(checksHost && { allowedHosts: hosts }) };
  const fetch = (request: Request) => app.fetch(request, bindings);
  const server = createAdaptorServer({ fetch, hostname: bare(host) }) as Server;
  const connections = new Connections(server);
  const address = await listen(server, port, bare(host));
  let closed: Promise<void> | undefined;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    close: () => {
      closing.abort();
      closed ??= drain(server, connections, graceMs);
      return closed;
    },
  };
}

function beyondLoopback(host: string): WaybillError {
  const message = `Refusing to listen on ${host === '' ? 'every address' : host}: anybody who reaches it could use this server.`;
  const hint = 'Listen on 127.0.0.1, or say --no-auth (noAuth) when something else keeps strangers out.';
  return new WaybillError('forbidden', message, { hint });
}

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });
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
