import type { BudgetInfo, Budgets, Jobs } from '@waybill/core';
import { budgetFromWire, spendingOf, type WireBudget, type WireSpending } from '../budget-wire.ts';
import { path } from './address.ts';
import type { Calls, Named } from './calls.ts';

const ALL = '/waybill/v1/budgets';

interface BudgetPage {
  budgets: WireBudget[];
  pagination: { cursor?: string };
}

export function budgets(calls: Calls): Budgets {
  const one = async (method: string, where: string, context: Named | undefined, body?: object): Promise<BudgetInfo> => {
    const tenant = calls.tenantOf(context);
    // The same limit again changes nothing.
    const asked = { tenant, ...(body && { body, repeatable: true }) };
    return budgetFromWire((await calls.call<{ budget: WireBudget }>(method, where, asked)).budget, calls.whose(tenant));
  };
  return {
    set: async ({ key, ...budget }, context) => one('PUT', ALL, context, { ...budget, ...(key != null && { key }) }),
    list: async ({ limit, cursor, ...context } = {}) => {
      const tenant = calls.tenantOf(context);
      const page = await calls.call<BudgetPage>('GET', ALL, { tenant, query: { limit, cursor } });
      const items = page.budgets.map((budget) => budgetFromWire(budget, calls.whose(tenant)));
      const { cursor: next } = page.pagination;
      return next === undefined ? { items } : { items, cursor: next };
    },
    get: async (id, context) => one('GET', path`/waybill/v1/budgets/${id}`, context),
    remove: async (id, context) => one('DELETE', path`/waybill/v1/budgets/${id}`, context),
  };
}

export const spending = (calls: Calls): Pick<Jobs, 'spend'> => ({
  spend: async ({ id, leaseToken, workerId, amounts, key, number, ...call }) => {
    const tenant = calls.tenantOf(call);
    const body = { lease_token: leaseToken, worker_id: workerId, amounts, key, number };
    // A call that counts itself is counted once however often it is sent.
    const asked = { tenant, body, repeatable: number !== undefined };
    const answer = await calls.call<WireSpending>('POST', path`/waybill/v1/jobs/${id}/spend`, asked);
    return spendingOf(answer.budgets.map((budget) => budgetFromWire(budget, calls.whose(tenant))));
  },
});
