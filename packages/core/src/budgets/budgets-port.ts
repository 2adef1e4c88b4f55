import type { Fence } from '../job/progress.ts';
import type { Page } from '../store/query.ts';

export const BUDGET_PERIODS = ['day', 'month', 'total'] as const;
/** Days and months are those of UTC. */
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** What the jobs of a tenant, or those of one key in it, may use together in a period. */
export interface Budget {
  /** What the limit counts: `tokens`, `usd`, or a name of your own, such as `pages`. */
  unit: string;
  period: BudgetPeriod;
  limit: number;
  /** Whatever runs name when they spend, such as a customer. Null: all jobs of the tenant. */
  key: string | null;
}

export interface BudgetInfo extends Budget {
  /** `unit:period`, and for a key `unit:period:key`. */
  id: string;
  tenant: string;
  /** In the current period. */
  spent: number;
  /** Never below 0. */
  left: number;
  isExceeded: boolean;
  /** When the period ends and nothing is spent any more; null: never. */
  endsAt: number | null;
}

interface InTenant {
  tenant?: string;
}

/** Limits on what runs spend, shared by all workers. Only operators change those of a tenant as a whole. */
export interface Budgets {
  /** Creates the budget, or gives it another limit; what was spent stays. */
  set(budget: Omit<Budget, 'key'> & { key?: string | null }, context?: InTenant): Promise<BudgetInfo>;
  /** Those of the tenant, and of its keys. */
  list(query?: InTenant & { limit?: number; cursor?: string }): Promise<Page<BudgetInfo>>;
  get(id: string, context?: InTenant): Promise<BudgetInfo>;
  /** Answers the budget as it was. What was spent is forgotten. */
  remove(id: string, context?: InTenant): Promise<BudgetInfo>;
}

export interface SpendCall extends InTenant, Fence {
  id: string;
  /** By unit. An amount of 0 asks how much is left. */
  amounts: Readonly<Record<string, number>>;
  /** Counts for the budgets of this key, beside those of the tenant. */
  key?: string;
  /** The run's own count of its calls from 1. A call that is sent again, or has been overtaken, is not counted again. */
  number?: number;
}

export interface Spending {
  /** Every budget that limits one of the units for the tenant or the key. */
  budgets: BudgetInfo[];
  /** Those of them that are used up. */
  exceeded: BudgetInfo[];
}
