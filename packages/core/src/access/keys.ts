import { WaybillError } from '../errors.ts';
import type { Keys, Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';

const WHY = 'keys are for every queue and type';

/** Whoever may do everything in a tenant may give out keys to it; an operator also keys that name the tenant in each call. */
export function scopedKeys({ keys }: Waybill, caller: Caller): { keys?: Keys } {
  if (keys === undefined) return {};
  const enter = (call: { tenant?: string | undefined } | undefined): string => {
    const tenant = caller.enterAll('admin', call);
    caller.needAll(WHY);
    return tenant;
  };
  return {
    keys: {
      create: async (request, context) => keys.create(request, { ...context, ...caller.by, tenant: enter(context) }),
      list: async (context) => keys.list({ tenant: enter(context) }),
      get: async (id, context) => keys.get(id, { tenant: enter(context) }),
      rotate: async (id, context) => keys.rotate(id, { ...context, ...caller.by, tenant: enter(context) }),
      revoke: async (id, context) => keys.revoke(id, { ...context, ...caller.by, tenant: enter(context) }),
      identify: async (secret) => {
        if (caller.isOperator) return keys.identify(secret);
        throw new WaybillError('forbidden', 'Only the server itself finds out who shows a key.');
      },
      ...(caller.isOperator && keys.sessions && { sessions: keys.sessions }),
      ...(caller.isOperator && keys.taskTokens && { taskTokens: keys.taskTokens }),
    },
  };
}
