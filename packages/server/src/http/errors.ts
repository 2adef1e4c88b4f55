import { type Logger, WaybillError } from '@waybill/core';
import type { ErrorHandler, MiddlewareHandler, NotFoundHandler } from 'hono';
import { refuse } from './answer.ts';
import type { App, Ctx, Env } from './env.ts';

/** Hono hands only Errors to its error handler; anything else thrown would leave without our answer. */
export function onlyErrors(): MiddlewareHandler<Env> {
  return async (_c, next) => {
    try {
      await next();
    } catch (reason) {
      throw WaybillError.from(reason);
    }
  };
}

/** Turns whatever was thrown into the catalogue's shape. Bodies are never logged: they may hold secrets. */
export function onError(logger: Logger): ErrorHandler<Env> {
  return (reason, c) => {
    const error = WaybillError.from(reason);
    if (error.code === 'internal') {
      const { method, path } = c.req;
      const facts = { request_id: c.get('requestId'), method, path, err: error.cause ?? error };
      logger.error(facts, 'A request failed unexpectedly.');
    }
    return c.get('rpc')?.(error) ?? refuse(c, error);
  };
}

/** Tells an unknown path from a known path under another method. Call it after the last route was added. */
export function onUnknown(app: App, hint: string): NotFoundHandler<Env> {
  const paths = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  for (const { path, method } of app.routes) {
    if (method === 'ALL') continue;
    const known = paths.get(path) ?? { pattern: patternOf(path), methods: new Set() };
    known.methods.add(method);
    if (method === 'GET') known.methods.add('HEAD');
    paths.set(path, known);
  }
  return (c) => {
    const { path, method } = c.req;
    const allowed = new Set(
      [...paths.values()].flatMap(({ pattern, methods }) => (pattern.test(path) ? [...methods] : [])),
    );
    if (allowed.size === 0) {
      return refuse(c, new WaybillError('not_found', `There is nothing at ${path.slice(0, 200)}.`, { hint }));
    }
    return refuseMethod(c, method, allowed);
  };
}

/**
 * For a path that a pattern of a later route fits too, and after its own routes: without this the pattern would take its
 * other methods, and would answer that the last word of the path is no id.
 */
export function allowOnly(app: App, path: string, methods: readonly string[]): void {
  const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  app.all(path, (c) => refuseMethod(c, c.req.method, allowed));
}

function refuseMethod(c: Ctx, method: string, allowed: Iterable<string>): Response {
  c.header('Allow', [...allowed].sort().join(', '));
  return refuse(c, new WaybillError('invalid_request', `${method} is not a method of this path.`), 405);
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/:[^/]+/g, '[^/]+')}$`);
