import { createContextKey, type HandlerContext } from '@connectrpc/connect';
import { type Waybill, WaybillError } from '@waybill/core';
import { unauthenticated } from '../auth/credentials.ts';
import type { Ctx } from '../http/env.ts';
import { goingAway } from '../http/going-away.ts';
import { portOf } from '../http/port.ts';
import type { CallEnd } from './call-end.ts';

/** What the app knows of the request that a call came with. */
export interface RpcCall {
  c: Ctx;
  end: CallEnd;
  /** Why the call must not be served, found out before its message was read. */
  refusal?: WaybillError | undefined;
}

export const CALL = createContextKey<RpcCall | undefined>(undefined);

export function callOf({ values }: Pick<HandlerContext, 'values'>): RpcCall {
  const call = values.get(CALL);
  if (call === undefined) throw new WaybillError('internal', 'An RPC handler was called beside the app.');
  return call;
}

/** What the caller may use: the same port that the routes of the HTTP interface get. */
export const portFor = (context: Pick<HandlerContext, 'values'>): Waybill => portOf(callOf(context).c);

/** A call that takes long. */
export interface Stay {
  /** Aborted when the client hangs up or may call no more, the deadline passes, or the server is asked to end. */
  signal: AbortSignal;
  /** Refuses with the reason for which the call was ended, where there is one. */
  check(): void;
  /** Whether a client is left that could take the answer. */
  clientIsGone(): boolean;
  leave(): void;
}

export function stay(context: HandlerContext): Stay {
  const { c } = callOf(context);
  const away = goingAway(c);
  const over = new AbortController();
  const end = () => over.abort();
  const sources = [away.signal, context.signal];
  for (const source of sources) {
    if (source.aborted) end();
    else source.addEventListener('abort', end, { once: true });
  }
  let hasLeft = false;
  return {
    signal: over.signal,
    clientIsGone: () => away.clientIsGone() || context.signal.aborted,
    check: () => {
      if (hasLeft || !over.signal.aborted) return;
      if (context.signal.aborted) throw context.signal.reason;
      if (c.env?.closing?.aborted) throw new WaybillError('unavailable', 'This server is about to end.');
      if (!away.clientIsGone()) throw unauthenticated();
    },
    leave: () => {
      hasLeft = true;
      for (const source of sources) source.removeEventListener('abort', end);
      away.leave();
      end();
    },
  };
}
