import { checkNames, WaybillError } from '@waybill/core';
import type { MiddlewareHandler } from 'hono';
import type { Env } from './env.ts';

/** Which pages of other origins may call this server from a browser. */
export interface CorsOptions {
  /** Such as `https://app.example`. `*` is every page, without cookies, and needs `auth`. */
  origins: readonly string[];
}

const ANY = '*';
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const HEADERS = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'Last-Event-ID', 'OJS-Version'],
  ...['X-API-Key', 'X-CSRF-Token', 'X-OJS-Tenant', 'X-Request-Id', 'traceparent', 'tracestate'],
  // Of Connect and gRPC-Web.
  ...['Connect-Protocol-Version', 'Connect-Timeout-Ms', 'Grpc-Timeout', 'X-Grpc-Web', 'X-User-Agent'],
].join(', ');
const EXPOSED = [
  ...['ETag', 'OJS-Version', 'Retry-After', 'X-OJS-Tenant', 'X-Request-Id'],
  ...['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  ...['Grpc-Status', 'Grpc-Message', 'Grpc-Status-Details-Bin', 'Waybill-Code'],
].join(', ');
const PREFLIGHT_SECONDS = '600';

/** Answers preflights of these origins, and tells browsers that their pages may read the answers. Others stay out. */
export function allowOrigins(options: CorsOptions, asksWho: boolean): MiddlewareHandler<Env> {
  const named = checkCors(options, asksWho);
  const isForAll = named.has(ANY);
  return async (c, next) => {
    c.header('Vary', 'Origin');
    const origin = c.req.header('Origin');
    const isNamed = origin !== undefined && named.has(origin.toLowerCase());
    if (!isNamed && !(isForAll && origin !== undefined)) return next();
    c.set('isAllowedOrigin', true);
    c.header('Access-Control-Allow-Origin', isNamed ? origin : ANY);
    // Never together with `*`: any page could then act as whoever looks at it.
    if (isNamed) c.header('Access-Control-Allow-Credentials', 'true');
    c.header('Access-Control-Expose-Headers', EXPOSED);
    if (c.req.method !== 'OPTIONS' || c.req.header('Access-Control-Request-Method') === undefined) return next();
    c.header('Access-Control-Allow-Methods', METHODS);
    c.header('Access-Control-Allow-Headers', HEADERS);
    c.header('Access-Control-Max-Age', PREFLIGHT_SECONDS);
    return c.body(null, 204);
  };
}

/** Refuses what no browser sends as an origin, because it would allow nothing, or more than was meant. */
export function checkCors(options: CorsOptions, asksWho: boolean): ReadonlySet<string> {
  checkNames("The option 'cors'", options, ['origins']);
  for (const origin of options.origins) {
    if (origin === ANY && !asksWho) {
      throw new WaybillError('invalid_request', 'Every page could use this server, because nobody has to show a key.', {
        hint: "Turn authentication on, or name origins instead of '*'.",
      });
    }
    const isOrigin =
      /^https?:\/\/[^*]+$/i.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin.toLowerCase();
    if (origin === ANY || isOrigin) continue;
    throw new WaybillError('invalid_request', `Invalid origin '${origin.slice(0, 100)}'.`, {
      details: { field: 'cors.origins' },
      hint: 'Use scheme, host and port without a path, such as https://app.example.',
    });
  }
  return new Set(options.origins.map((origin) => origin.toLowerCase()));
}
