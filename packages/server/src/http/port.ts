import { TENANT_HEADER } from '@waybill/client';
import {
  ALL_TENANTS,
  audited,
  checkTenant,
  invalidField,
  isObject,
  type Principal,
  SCOPES,
  scoped,
  type Waybill,
  WaybillError,
} from '@waybill/core';
import type { MiddlewareHandler } from 'hono';
import type { Auditor, Circumstances } from '../audit/auditor.ts';
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
export const anybody = (asking: Asking): Principal => ({
  id: '',
  tenant: checkTenant(asking.header(TENANT_HEADER) ?? '', TENANT_HEADER),
  scopes: SCOPES,
});

/** Gives every request that comes this far the port that its sender may use. */
export function givePort(waybill: Waybill, auditor: Auditor): MiddlewareHandler<Env> {
  return async (c, next) => {
    const principal = c.get('caller')?.principal ?? anybody(c.req);
    const home = await named(c, principal, auditor);
    c.set('principal', principal);
    const tenant = principal.tenant === ALL_TENANTS ? home : principal.tenant;
    const tell = auditor.tellFor(principal, circumstancesOf(c, tenant));
    const port = scoped(waybill, principal, home);
    if (tell) c.set('audit', tell);
    c.set('port', tell ? audited(port, tell) : port);
    c.set('tenant', tenant);
    // A client whose key belongs to a tenant has not named it.
    if (tenant !== '') c.header(TENANT_HEADER, tenant);
    await next();
  };
}

const circumstancesOf = (c: Ctx, tenant: string): Circumstances => ({
  ...{ tenant, name: c.get('caller')?.name, requestId: c.get('requestId'), address: c.env?.clientAddress },
  meant: () => c.get('meant'),
});

/** The tenant that an operator names by the header. Whoever belongs to one may name that one only. */
async function named(c: Ctx, principal: Principal, auditor: Auditor): Promise<string> {
  const { tenant } = principal;
  const header = c.req.header(TENANT_HEADER);
  if (header === undefined) return '';
  checkTenant(header, TENANT_HEADER);
  if (tenant === ALL_TENANTS) return header;
  if (tenant === header) return '';
  // Whoever reaches for what belongs to others is written down, whatever the call would have been.
  const tell = auditor.tellFor(principal, circumstancesOf(c, tenant));
  await tell?.({ action: 'tenants.enter', target: header, outcome: 'forbidden' });
  throw new WaybillError('forbidden', `The header ${TENANT_HEADER} names another tenant than that of the caller.`);
}

/**
 * A job that says whose it is must say what the request says: else it would be filed where its sender does not look. Where
 * no tenant is named, producers may note there what they like.
 */
export function checkTenantOf(c: Ctx, request: unknown, field = 'meta'): void {
  const meta = isObject(request) ? request['meta'] : undefined;
  const named = isObject(meta) ? meta['tenant_id'] : undefined;
  const tenant = c.get('tenant') ?? '';
  if (tenant === '' || named === undefined || named === null || named === tenant) return;
  throw invalidField(`${field}.tenant_id`, `names another tenant than '${tenant}', whose request this is.`);
}

export function principalOf(c: Ctx): Principal {
  const principal = c.get('principal');
  if (principal === undefined)
    throw new WaybillError('internal', 'This route stands before the one that gives a port.');
  return principal;
}

export function portOf(c: Ctx): Waybill {
  const port = c.get('port');
  if (port === undefined) throw new WaybillError('internal', 'This route stands before the one that gives a port.');
  return port;
}
