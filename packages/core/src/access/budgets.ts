import { parseBudgetId } from '../budgets/budget.ts';
import type { Budgets } from '../budgets/budgets-port.ts';
import { WaybillError } from '../errors.ts';
import type { Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';

const WHY = 'a budget is for jobs of every queue and type';

/** A tenant gives its keys what it likes, and never itself more: what it has as a whole is an operator's. */
export function scopedBudgets({ budgets }: Waybill, caller: Caller): Budgets {
  const enter = (scope: 'read' | 'admin', call: { tenant?: string | undefined } | undefined) => {
    const tenant = caller.enter(scope, call);
    caller.needAll(WHY);
    return { tenant };
  };
  const mayChange = (key: string | null | undefined): void => {
    if (key == null && !caller.isOperator)
      throw new WaybillError('forbidden', 'Only operators may change the budgets of a tenant as a whole.', {
        hint: 'Use a key for all tenants, or set a budget for a key of your own.',
      });
  };
  return {
    set: async (budget, context) => {
      const at = enter('admin', context);
      mayChange(budget?.key);
      return budgets.set(budget, at);
    },
    list: async (query) => budgets.list({ ...query, ...enter('read', query) }),
    get: async (id, context) => budgets.get(id, enter('read', context)),
    remove: async (id, context) => {
      const at = enter('admin', context);
      mayChange(parseBudgetId(id).key);
      return budgets.remove(id, at);
    },
  };
}
