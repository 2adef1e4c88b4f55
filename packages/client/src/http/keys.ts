import type { ApiKey, Keys } from '@waybill/core';
import { keyFromWire, keyRequestToWire, type WireKey, type WireKeyWithSecret } from '../key-wire.ts';
import { path } from './address.ts';
import { ALL_TENANTS, type Calls, type Named } from './calls.ts';
import { RemoteError } from './remote-error.ts';

const KEYS = '/waybill/v1/keys';

export function keys(calls: Calls): Keys {
  /** All tenants are no tenant that a header could name. */
  const whose = (context: Named | undefined) =>
    isAll(context) ? { tenant: '', query: { tenant: ALL_TENANTS } } : { tenant: calls.tenantOf(context) };
  const one = async (method: string, id: string, context: Named | undefined): Promise<ApiKey> =>
    keyFromWire((await calls.call<{ key: WireKey }>(method, path`/waybill/v1/keys/${id}`, whose(context))).key);
  const made = ({ key, secret }: WireKeyWithSecret) => ({ key: keyFromWire(key), secret });
  return {
    create: async (request, context) => {
      const { tenant } = whose(context);
      const body = { ...keyRequestToWire(request), ...(isAll(context) && { tenant: ALL_TENANTS }) };
      return made(await calls.call<WireKeyWithSecret>('POST', KEYS, { tenant, body }));
    },
    list: async (context) => {
      const answer = await calls.call<{ keys: WireKey[] }>('GET', KEYS, whose(context));
      return answer.keys.map(keyFromWire);
    },
    get: async (id, context) => one('GET', id, context),
    rotate: async (id, { keepOldMs = 0, ...context } = {}) => {
      const body = keepOldMs === 0 ? {} : { keep_old: `PT${keepOldMs / 1_000}S` };
      const options = { ...whose(context), body };
      return made(await calls.call<WireKeyWithSecret>('POST', path`/waybill/v1/keys/${id}/rotate`, options));
    },
    revoke: async (id, context) => one('DELETE', id, context),
    identify: async () => {
      const message = 'Only the server itself finds out who shows a key.';
      throw new RemoteError({ code: 'unsupported', message, hint: 'Connect to the store that keeps the keys.' });
    },
  };
}

const isAll = (context: Named | undefined): boolean => context?.tenant === ALL_TENANTS;
