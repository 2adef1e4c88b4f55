import { budgetToWire } from '@waybill/client';
import { BUDGET_PERIODS, type Budget, type BudgetInfo } from '@waybill/core';
import { command, misuse } from '../command.ts';
import { budgetLine } from '../shown-budget.ts';

export const budgetsSet = command({
  name: 'budgets set',
  section: 'Care',
  summary: 'limit what the jobs of a tenant or of a key may use together',
  args: '[KEY]',
  options: {
    usd: { value: 'AMOUNT', about: 'US dollars' },
    tokens: { value: 'N', about: 'tokens that models read and write' },
    limit: { value: 'UNIT=AMOUNT', about: 'any other unit, as the tasks name it', several: true },
    per: { value: 'PERIOD', about: `${BUDGET_PERIODS.join(', ')}; days and months of UTC` },
  },
  notes: `KEY is what the tasks name when they spend, such as a customer. Without KEY the budget is for all jobs of the tenant,
and only operators may set it. What was spent in the period stays.`,
  run: async ({ args: [key], values }, context) => {
    const { usd, tokens, limit = [], per } = values;
    const limits = [
      ...(usd === undefined ? [] : [['usd', amountIn('--usd', usd)] as const]),
      ...(tokens === undefined ? [] : [['tokens', amountIn('--tokens', tokens)] as const]),
      ...limit.map(limitIn),
    ];
    if (limits.length === 0) throw misuse('Say which limit to set: --usd, --tokens or --limit UNIT=AMOUNT.');
    const period = periodIn(per);
    const { budgets } = await context.connect();
    const set: BudgetInfo[] = [];
    for (const [unit, amount] of limits)
      set.push(await budgets.set({ unit, period, limit: amount, ...(key !== undefined && { key }) }));
    context.show({ budgets: set.map(budgetToWire) }, () => set.map(budgetLine).join(''));
    return 0;
  },
});

function periodIn(text: string | undefined): Budget['period'] {
  const period = BUDGET_PERIODS.find((known) => known === text);
  if (period !== undefined) return period;
  const said = text === undefined ? '' : `, not '${text}'`;
  throw misuse(`--per must be ${BUDGET_PERIODS.slice(0, -1).join(', ')} or ${BUDGET_PERIODS.at(-1)}${said}.`);
}

function limitIn(text: string): readonly [string, number] {
  const [, unit, amount] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (unit === undefined || amount === undefined)
    throw misuse(`--limit must be a unit and an amount, like pages=1000, not '${text}'.`);
  return [unit, amountIn('--limit', amount)];
}

function amountIn(name: string, text: string): number {
  const amount = Number(text);
  if (/^\d[\d.]*$/.test(text) && Number.isFinite(amount) && amount > 0) return amount;
  throw misuse(`${name} must be a number above 0, not '${text}'.`);
}
