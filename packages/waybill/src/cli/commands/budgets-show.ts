import { budgetToWire } from '@waybill/client';
import { command } from '../command.ts';
import { amount } from '../shown-budget.ts';
import { away } from '../spans.ts';
import { pairs } from '../table.ts';

const ID = 'ID is unit:period, such as usd:month, or unit:period:key, as `waybill budgets list` shows it.';

export const budgetsShow = command({
  name: 'budgets show',
  section: 'Care',
  summary: 'show a budget with what is spent and left',
  args: 'ID',
  notes: ID,
  run: async ({ args: [id = ''] }, context) => {
    const { budgets } = await context.connect();
    const info = await budgets.get(id);
    const { key, unit, period, limit, spent, left, isExceeded, endsAt } = info;
    const text = () =>
      pairs(
        [
          ['budget', info.id],
          ['for', key === null ? 'all jobs of the tenant' : `the key ${key}`],
          ['limit', `${amount(limit)} ${unit}${period === 'total' ? '' : ` per ${period}`}`],
          ['spent', amount(spent)],
          ['left', isExceeded ? '0, it is used up' : amount(left)],
          ['ends', endsAt === null ? 'never' : away(endsAt, context.io.now())],
        ],
        context,
      );
    context.show({ budget: budgetToWire(info) }, text);
    return 0;
  },
});

export const budgetsRemove = command({
  name: 'budgets remove',
  section: 'Care',
  summary: 'remove a budget, and forget what was spent',
  args: 'ID',
  notes: ID,
  run: async ({ args: [id = ''] }, context) => {
    const { budgets } = await context.connect();
    const info = await budgets.remove(id);
    context.show({ deleted: true, id, budget: budgetToWire(info) }, () => `${id} is removed\n`);
    return 0;
  },
});
