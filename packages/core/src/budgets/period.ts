import type { BudgetPeriod } from './budgets-port.ts';

export interface PeriodSpan {
  /** The same for all moments of the period. */
  name: string;
  endsAt: number | null;
}

/** The period that a moment lies in, by the calendar of UTC. */
export function periodAt(period: BudgetPeriod, now: number): PeriodSpan {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const text = date.toISOString();
  switch (period) {
    case 'day':
      return { name: text.slice(0, 10), endsAt: Date.UTC(year, month, day + 1) };
    case 'month':
      return { name: text.slice(0, 7), endsAt: Date.UTC(year, month + 1) };
    case 'total':
      return { name: 'total', endsAt: null };
  }
}
