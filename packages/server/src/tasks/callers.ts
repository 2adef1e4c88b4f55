import { type Scope, scoped, type Waybill, WaybillError } from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import { principalOf } from '../http/port.ts';
import { Definitions } from './definitions.ts';

/** For what is not a call of the port. Refused in the same words. */
export function needScope(c: Ctx, scope: Scope): void {
  const { id, scopes } = principalOf(c);
  if (scopes.includes(scope) || scopes.includes('admin')) return;
  const who = id === '' ? 'The caller' : `'${id}'`;
  throw new WaybillError('forbidden', `${who} lacks the scope '${scope}'.`);
}

/** For calls that look at a job first: who may not make them must not learn what is there. That it was tried is written down. */
export async function needAdmin(c: Ctx, action: string, target: string): Promise<void> {
  try {
    needScope(c, 'admin');
  } catch (error) {
    await c.get('audit')?.({ action, target, outcome: 'forbidden' });
    throw error;
  }
}

/**
 * What a call must look at to answer, for a caller that may make the call and perhaps not read: the same tenant, queues and
 * types, and nothing else of the port.
 */
export function readerOf(c: Ctx, waybill: Waybill): Pick<Waybill, 'workflows' | 'jobs'> {
  const principal = principalOf(c);
  return scoped(waybill, { ...principal, tenant: c.get('tenant') ?? '', scopes: ['read'] });
}

export function definitionsFor(c: Ctx, { records }: Waybill): Definitions {
  return new Definitions(records, c.get('tenant') ?? '', principalOf(c));
}
