import type { Clock, Logger } from '@waybill/core';
import type { MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Ctx, Env } from './env.ts';

/**
 * One line for each request, at the level debug. The route and not the path, which has ids; neither queries nor headers
 * nor bodies, which may be secrets. A stream is told when it begins.
 */
export function accessLog(logger: Logger, clock: Clock): MiddlewareHandler<Env> {
  return async (c, next) => {
    const begun = clock.monotonic();
    try {
      await next();
    } finally {
      const principal = c.get('principal')?.id;
      const address = c.env?.clientAddress;
      const [{ method }, route, { status }] = [c.req, routeOf(c), c.res];
      const facts = {
        ...{ method, route, status },
        ms: Math.round((clock.monotonic() - begun) * 10) / 10,
        request_id: c.get('requestId'),
        ...(address !== undefined && { address }),
        ...(principal !== undefined && principal !== '' && { principal }),
      };
      logger.debug(facts, `Answered ${method} ${route} with ${status}.`);
    }
  };
}

/** The pattern that the request has met; `*` where there is none. */
const routeOf = (c: Ctx): string =>
  c.get('rpc') ? c.req.path : (matchedRoutes(c).find(({ method }) => method !== 'ALL')?.path ?? '*');
