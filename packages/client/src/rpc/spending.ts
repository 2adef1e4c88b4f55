import type { BudgetInfo, BudgetPeriod, Jobs } from '@waybill/core';
import { type Budget, WorkerService } from '@waybill/protocol';
import { spendingOf } from '../budget-wire.ts';
import type { RpcCalls } from './rpc-calls.ts';
import { refused, textIn } from './sent.ts';
import { msOf } from './values.ts';

export const spending = (calls: RpcCalls): Pick<Jobs, 'spend'> => ({
  spend: async ({ id, leaseToken, workerId, amounts, key, number, ...call }) => {
    const tenant = calls.tenantOf(call);
    const fence = { ...(leaseToken !== undefined && { leaseToken }), ...(workerId !== undefined && { workerId }) };
    const input = {
      ...{ jobId: textIn(id, 'id'), ...fence, amounts: amountsIn(amounts) },
      ...(key !== undefined && { key }),
      ...(number !== undefined && { number: numberIn(number) }),
    };
    // A call that counts itself is counted once however often it is sent.
    const answer = await calls.call(WorkerService.method.spend, input, { tenant, repeatable: number !== undefined });
    return spendingOf(answer.budgets.map((budget) => budgetOf(budget, calls.whose(tenant))));
  },
});

function budgetOf({ id, key, unit, period, limit, spent, left, exceeded, endsAt }: Budget, tenant: string): BudgetInfo {
  return {
    ...{ id, tenant, key: key ?? null, unit, period: period as BudgetPeriod, limit, spent, left },
    ...{ isExceeded: exceeded, endsAt: endsAt === undefined ? null : msOf(endsAt, 'ends_at') },
  };
}

function amountsIn(amounts: Readonly<Record<string, number>>): Record<string, number> {
  if (typeof amounts !== 'object' || amounts === null) throw refused('amounts', 'must be an object.');
  for (const [unit, amount] of Object.entries(amounts))
    if (typeof amount !== 'number') throw refused(`amounts.${unit}`, `must be a number, not ${typeof amount}.`);
  return { ...amounts };
}

function numberIn(number: number): bigint {
  if (Number.isSafeInteger(number) && number >= 1) return BigInt(number);
  throw refused('number', 'must be an integer from 1 on.');
}
