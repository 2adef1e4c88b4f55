import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { Env } from './env.ts';
import type { ObservedRpc } from './rpc-request.ts';

/** As much of a request as may be told: no body, no query. */
export interface ObservedRequest {
  readonly method: string;
  readonly path: string;
  /** Undefined when it was not sent. */
  header(name: string): string | undefined;
}

export interface ObservedAnswer {
  status: number;
  /** The pattern of the route, such as `/ojs/v1/jobs/:id`; undefined where no route fits. */
  route: string | undefined;
  /** Present where the request was a call of the RPC interface. */
  rpc?: ObservedRpc | undefined;
}

/** Stands around every request, for traces and metrics. It calls `handle` once and answers when that has answered. */
export type RequestObserver = (request: ObservedRequest, handle: () => Promise<ObservedAnswer>) => Promise<void>;

export function observeRequests(observe: RequestObserver): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { method, path } = c.req;
    await observe({ method, path, header: (name) => c.req.header(name) }, async () => {
      await next();
      const pattern = routePath(c);
      const rpc = c.get('rpcAnswer');
      return { status: c.res.status, route: pattern.endsWith('*') ? undefined : pattern, ...(rpc && { rpc }) };
    });
  };
}
