import type { Records, Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';

const WHY = 'records know neither';

/** Records hold what is administrative, secrets among it: routes that show a kind of them to others decide what. */
export function scopedRecords({ records }: Waybill, caller: Caller): { records?: Records } {
  if (records === undefined) return {};
  const enter = (call: { tenant?: string | undefined } | undefined): string => {
    const tenant = caller.enter('admin', call);
    caller.needAll(WHY);
    return tenant;
  };
  return {
    records: {
      get: async (kind, id, context) => records.get(kind, id, { tenant: enter(context) }),
      list: async (query) => records.list({ ...query, tenant: enter(query) }),
      put: async (request, context) => records.put(request, { tenant: enter(context) }),
      remove: async (kind, id, context) => records.remove(kind, id, { ...context, tenant: enter(context) }),
    },
  };
}
