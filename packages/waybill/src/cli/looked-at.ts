import { isRemote } from '../connect/parse-address.ts';
import type { Context } from './context.ts';

/** Which tenant an answer is about, for one that is empty: what is asked for may be there, and belong to another one. */
export function lookedAt({ tenant, key, store, isAllTenants }: Context): string {
  if (isAllTenants) return 'any tenant';
  if (tenant !== undefined) return `the tenant '${tenant}'`;
  // Whose the key is, is known to the server.
  const isOfKey = isRemote(store) && key !== undefined;
  return isOfKey ? 'the tenant of the key (the one without a name, if it is for all)' : 'the tenant without a name';
}
