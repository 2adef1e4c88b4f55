import { AsyncLocalStorage } from 'node:async_hooks';
import { Code, createContextValues } from '@connectrpc/connect';
import {
  type UniversalHandler,
  type UniversalServerResponse,
  universalServerRequestFromFetch,
} from '@connectrpc/connect/protocol';
import { ERROR_TABLE } from '@waybill/client';
import { type Waybill, WaybillError } from '@waybill/core';
import { health } from '@waybill/protocol';
import type { MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode, StatusCode } from 'hono/utils/http-status';
import { refuse } from '../http/answer.ts';
import type { App, Ctx, Env } from '../http/env.ts';
import type { Surface } from '../surface.ts';
import { CALL } from './call.ts';
import { CallEnd, systemOf } from './call-end.ts';
import { boundOpenCall } from './connection/open-call.ts';
import { type RpcHandlers, rpcHandlers } from './handlers.ts';

/**
 * The RPC interface, on the same middleware as everything else: who calls, for which tenant, how often, with which port,
 * and what the audit records of it is decided there, for both.
 */
export class RpcRoutes {
  readonly #handlers: RpcHandlers;

  constructor(waybill: Waybill, surface: Surface) {
    this.#handlers = rpcHandlers(waybill, surface);
  }

  /** Comes first, so that a refusal by any later part is an error of the protocol. */
  recognize(): MiddlewareHandler<Env> {
    return async (c, next) => {
      const { web, grpc } = this.#handlers;
      const handler = (c.env?.rpc ? grpc : web).get(c.req.path);
      if (!handler) return next();
      const { service, method } = handler;
      const end = new CallEnd();
      c.set('rpc', (refusal) => answer(c, handler, end, refusal));
      await next();
      // Else something in between has answered, such as the question of a browser whether it may call.
      if (!end.isBegun) return;
      const system = systemOf(c.req.header('content-type'));
      c.set('rpcAnswer', { system, service: service.typeName, method: method.name, status: end.status });
    };
  }

  /** Services that need no key. */
  open(app: App): void {
    this.#route(app, (service) => service === health.Health.typeName, boundOpenCall);
  }

  /** Everything else: it needs a port. */
  routes(app: App): void {
    this.#route(app, (service) => service !== health.Health.typeName);
  }

  #route(app: App, isWanted: (service: string) => boolean, before?: (c: Ctx) => void): void {
    for (const [path, { service }] of this.#handlers.grpc) {
      if (!isWanted(service.typeName)) continue;
      app.all(path, (c, next) => {
        before?.(c);
        return c.get('rpc')?.() ?? next();
      });
    }
  }
}

async function answer(c: Ctx, handler: UniversalHandler, end: CallEnd, refusal?: WaybillError): Promise<Response> {
  // The call has broken off while it was answered, and its body is read already.
  if (refusal && end.isBegun) {
    end.over(Code[ERROR_TABLE[refusal.code].rpc]);
    return refuse(c, refusal);
  }
  const contextValues = createContextValues().set(CALL, { c, end, refusal });
  const grpc = c.env?.rpc;
  const request = grpc?.request ?? universalServerRequestFromFetch(c.req.raw, { httpVersion: '1.1' });
  const response = await handler({ ...request, contextValues });
  const wrong = wrongWay(c, handler, response.status);
  if (wrong) {
    // The refusal of a caller comes first, whatever else is wrong with the call.
    const { code } = refusal ?? wrong;
    end.over(Code[ERROR_TABLE[code].rpc]);
    return refusal ? refuse(c, refusal) : refuse(c, wrong, response.status);
  }
  const body = response.body && (handler.method.methodKind === 'unary' ? response.body : inCall(response.body, end));
  const headers = Object.fromEntries(response.header ?? []);
  if (!grpc) return c.body(bodyOf(body ?? NOTHING), response.status as ContentfulStatusCode, headers);
  // The answer itself has trailers, which a Response cannot have: it goes by another way.
  grpc.response = { ...response, ...(body && { body }) };
  return c.body(null, response.status as StatusCode);
}

/** Connect answers these without a word. */
function wrongWay(c: Ctx, { method }: UniversalHandler, status: number): WaybillError | undefined {
  const unary = method.methodKind === 'unary';
  switch (status) {
    case 405:
      return new WaybillError('invalid_request', `${c.req.method} is not a method of this path: use POST.`);
    case 415: {
      const type = unary ? 'application/json' : 'application/connect+json';
      return new WaybillError('invalid_request', 'The Content-Type is none that this method takes.', {
        details: { header: 'Content-Type' },
        hint: `Send Content-Type: ${type}, or use a client of Connect or gRPC; gRPC itself has a port of its own (--grpc-port).`,
      });
    }
    case 505:
      return new WaybillError('unsupported', `${method.name} needs HTTP/2, because both sides stream.`, {
        hint: 'Use the port for gRPC (--grpc-port).',
      });
    default:
      return undefined;
  }
}

const NOTHING: AsyncIterable<Uint8Array<ArrayBuffer>> = { [Symbol.asyncIterator]: async function* () {} };

type Body = NonNullable<UniversalServerResponse['body']>;

/** A stream goes on after the app has answered. What it does then belongs to the call all the same, also in its trace. */
function inCall(body: Body, end: CallEnd): Body {
  const within = AsyncLocalStorage.snapshot();
  return {
    [Symbol.asyncIterator]: () => {
      const chunks = body[Symbol.asyncIterator]();
      return {
        next: () => within(() => chunks.next()),
        throw: (reason: unknown) => {
          end.left();
          return within(() => chunks.throw!(reason));
        },
        return: () => within(() => chunks.return!()),
      };
    },
  };
}

/** Nothing is made ahead: a message that was made counts as taken when the next one is asked for. */
function bodyOf(body: Body): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      pull: async (controller) => {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async (reason) => {
        await chunks.throw?.(reason).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}
