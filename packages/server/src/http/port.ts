import { TENANT_HEADER } from '@waybill/client';
import { checkTenant, type Principal, SCOPES, scoped, type Waybill, WaybillError } from '@waybill/core';
import type { MiddlewareHandler } from 'hono';
import type { Ctx, Env } from './env.ts';

/** As much of a request as tells who sends it. */
export interface Asking {
  readonly method: string;
  readonly path: string;
  /** Undefined when it was not sent. */
  header(name: string): string | undefined;
}

/** Says who sends a request, or refuses it with a WaybillError. */
export type Identify = (asking: Asking) => Principal | Promise<Principal>;

/** Nobody has to show who they are: whoever reaches this server may do everything, for the tenant that they name. */
export const anybody: Identify = (asking) => ({
  id: '',
  tenant: checkTenant(asking.header(TENANT_HEADER) ?? '', TENANT_HEADER),
  scopes: SCOPES,
});

/** Gives every request that comes this far the port that its sender may use. */
export function givePort(waybill: Waybill, identify: Identify): MiddlewareHandler<Env> {
  return async (c, next) => {
    c.set('port', scoped(waybill, await identify(c.req)));
    await next();
  };
}

export function portOf(c: Ctx): Waybill {
  const port = c.get('port');
  if (port === undefined) throw new WaybillError('internal', 'This route stands before the one that gives a port.');
  return port;
}
