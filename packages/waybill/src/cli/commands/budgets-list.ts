import { budgetToWire } from '@waybill/client';
import type { BudgetInfo } from '@waybill/core';
import { command } from '../command.ts';
import { moreLine, pagination } from '../job-table.ts';
import { lookedAt } from '../looked-at.ts';
import { PAGE_OPTIONS, readPage } from '../page-options.ts';
import { amount } from '../shown-budget.ts';
import { away } from '../spans.ts';
import { type Column, table } from '../table.ts';

export const budgetsList = command({
  name: 'budgets list',
  section: 'Care',
  summary: 'list the budgets with what is spent and left',
  options: PAGE_OPTIONS,
  run: async ({ values }, context) => {
    const page = readPage(values);
    const { budgets } = await context.connect();
    const { items, cursor } = await budgets.list(page);
    const now = context.io.now();
    const columns: Column<BudgetInfo>[] = [
      { title: 'BUDGET', of: ({ id }) => id, least: 12 },
      { title: 'LIMIT', of: ({ limit }) => amount(limit), align: 'right' },
      { title: 'SPENT', of: ({ spent }) => amount(spent), align: 'right' },
      { title: 'LEFT', of: ({ left }) => amount(left), align: 'right' },
      { title: 'ENDS', of: ({ endsAt }) => (endsAt === null ? 'never' : away(endsAt, now)), spare: 1 },
    ];
    const document = { budgets: items.map(budgetToWire), pagination: pagination(page.limit, cursor) };
    const text = () => (items.length === 0 ? `No budgets in ${lookedAt(context)}.\n` : table(items, columns, context));
    context.show(document, () => text() + moreLine(cursor, context));
    return 0;
  },
});
