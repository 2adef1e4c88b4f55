import type { Budget, BudgetInfo, Spending } from '@waybill/core';
import { present } from './present.ts';
import { toRfc3339 } from './time.ts';

export interface WireNewBudget {
  unit: string;
  period: Budget['period'];
  limit: number;
  /** Absent: all jobs of the tenant. */
  key?: string;
}

export interface WireBudget extends WireNewBudget {
  id: string;
  spent: number;
  left: number;
  exceeded: boolean;
  /** Null: never. */
  ends_at: string | null;
}

export interface WireSpending {
  budgets: WireBudget[];
}

export const budgetToWire = ({ tenant: _, key, isExceeded, endsAt, ...budget }: BudgetInfo): WireBudget => ({
  ...budget,
  ...present('key', key),
  exceeded: isExceeded,
  ends_at: endsAt === null ? null : toRfc3339(endsAt),
});

export const budgetFromWire = (wire: WireBudget, tenant: string): BudgetInfo => {
  const { id, key = null, unit, period, limit, spent, left, exceeded: isExceeded, ends_at } = wire;
  const endsAt = ends_at === null ? null : Date.parse(ends_at);
  return { id, tenant, key, unit, period, limit, spent, left, isExceeded, endsAt };
};

export const spendingOf = (budgets: BudgetInfo[]): Spending => ({
  budgets,
  exceeded: budgets.filter(({ isExceeded }) => isExceeded),
});
