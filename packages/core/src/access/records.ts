import { BUDGET_KIND } from '../budgets/budget.ts';
import { WaybillError } from '../errors.ts';
import type { Records, Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';

const WHY = 'records know neither';

/** Records hold what is administrative, secrets among it: routes that show a kind of them to others decide what. */
export function scopedRecords({ records }: Waybill, caller: Caller): { records?: Records } {
  if (records === undefined) return {};
  /** What tenants may not raise for themselves is not changed as a record. */
  const mayChange = (kind: unknown): void => {
    if (kind === BUDGET_KIND)
      throw new WaybillError('forbidden', 'A budget is not changed as a record.', { hint: 'Use waybill.budgets.' });
  };
  const enter = (call: { tenant?: string | undefined } | undefined): string => {
    const tenant = caller.enter('admin', call);
    caller.needAll(WHY);
    return tenant;
  };
  return {
    records: {
      get: async (kind, id, context) => records.get(kind, id, { tenant: enter(context) }),
      list: async (query) => records.list({ ...query, tenant: enter(query) }),
      put: async (request, context) => {
        const tenant = enter(context);
        mayChange(request?.kind);
        return records.put(request, { tenant });
      },
      remove: async (kind, id, context) => {
        const tenant = enter(context);
        mayChange(kind);
        return records.remove(kind, id, { ...context, tenant });
      },
    },
  };
}
