import type { Clock } from '@waybill/core';
import type { MiddlewareHandler } from 'hono';
import type { Env } from '../http/env.ts';
import type { Identifier } from './identify.ts';
import type { OpenRequests } from './open-requests.ts';
import type { RequestLimits } from './request-limits.ts';
import { standingOf } from './standing.ts';

interface Bounds {
  limits: RequestLimits;
  open: OpenRequests;
  clock: Clock;
}

/** Lets only callers through that are known, and no more of their requests than they may send and have under way. */
export function authenticate(identifier: Identifier, { limits, open, clock }: Bounds): MiddlewareHandler<Env> {
  return async (c, next) => {
    const caller = await identifier.of(c);
    limits.count(c, caller);
    c.set('caller', caller);
    c.set('standing', standingOf(c, caller, identifier, clock));
    await open.hold(c, caller, next);
  };
}
