import { isIP } from 'node:net';
import { WaybillError } from '@waybill/core';
import type { MiddlewareHandler } from 'hono';
import type { Ctx, Env } from './env.ts';
import { isLoopbackName, nameOf } from './hosts.ts';

/**
 * Keeps web pages of other sites out. A browser sends requests to any address that it can reach, also to a server that
 * only this machine can reach and where nobody has to log in.
 */
export function refuseForeignPages(): MiddlewareHandler<Env> {
  return async (c, next) => {
    // Both: what a proxy says it was called is also what a page could say that has come without one.
    checkHost(c.req.header('Host'), c.env?.allowedHosts);
    checkHost(c.env?.forwardedHost, c.env?.allowedHosts);
    if (!c.get('isAllowedOrigin')) checkSource(c);
    await next();
  };
}

/**
 * A page may make its own name resolve to this machine (DNS rebinding). To the browser it is then of the same origin,
 * and only the `Host` gives it away. Every browser sends one; HTTP/1.0 without it comes from simple health checks. An IP
 * address cannot be made to resolve elsewhere, and load balancers check health by it.
 */
function checkHost(host: string | undefined, allowed: ReadonlySet<string> | undefined): void {
  if (host === undefined || allowed === undefined) return;
  const name = nameOf(host);
  if (isLoopbackName(name) || isIP(name) > 0 || allowed.has(name)) return;
  throw new WaybillError('forbidden', `Host '${shown(name)}' is not allowed.`, {
    details: { header: 'Host' },
    hint: `Pass --allow-host ${shown(name)} (allowedHosts) if this name is yours.`,
  });
}

/**
 * `Sec-Fetch-Site` comes first, because it also holds behind a proxy that replaces the `Host`. Older browsers, and all
 * of them over plain HTTP beyond this machine, send `Origin` alone. Other clients send neither.
 */
function checkSource(c: Ctx): void {
  const site = c.req.header('Sec-Fetch-Site');
  if (site === 'same-origin') return;
  if (site !== undefined && site !== 'none' && !isLink(c)) throw foreign('Sec-Fetch-Site', site);
  const origin = c.req.header('Origin');
  if (origin === undefined) return;
  const host = hostOf(c) ?? new URL(c.req.url).host;
  // Without the scheme: a proxy may speak HTTPS for this server.
  if (withoutDefaultPort(origin.toLowerCase().replace(/^https?:\/\//, '')) !== withoutDefaultPort(host.toLowerCase())) {
    throw foreign('Origin', origin);
  }
}

/** As the client has named it. */
const hostOf = (c: Ctx): string | undefined => c.env?.forwardedHost ?? c.req.header('Host');

/** Browsers leave the port of a scheme out of the origin, and some proxies write it into the host. */
const withoutDefaultPort = (host: string): string => host.replace(/:(80|443)$/, '');

/** Somebody followed a link to this server: the page with the link cannot read the answer. */
const isLink = (c: Ctx): boolean =>
  c.req.method === 'GET' &&
  c.req.header('Sec-Fetch-Mode') === 'navigate' &&
  c.req.header('Sec-Fetch-Dest') === 'document';

function foreign(header: string, value: string): WaybillError {
  const message = `This request comes from a web page of another origin (${header}: ${shown(value)}).`;
  return new WaybillError('forbidden', message, {
    details: { header },
    hint: 'Serve the page and this API from one origin; a proxy must pass on the Host with its port. Or call the API from your own server.',
  });
}

const shown = (value: string): string => value.slice(0, 100);
