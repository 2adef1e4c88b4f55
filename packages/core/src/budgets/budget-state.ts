import type { JsonObject } from '../json.ts';
import { budgetId } from './budget.ts';
import type { Budget, BudgetInfo } from './budgets-port.ts';
import { periodAt } from './period.ts';

/** Of a job: its run, the number of that run's newest call, and when that came. */
type SeenRun = [jobId: string, run: number, number: number, at: number];

export type BudgetLevel = 'open' | 'warned' | 'exceeded';

/**
 * A budget with what was spent in its current period, in one record: so a period that is over leaves nothing behind, and what
 * was spent, and by which call, changes together.
 */
export interface BudgetState {
  limit: number;
  /** What the rest is about. */
  period: string;
  spent: number;
  /** What the log has told of this period. */
  told: BudgetLevel;
  /** The newest come last. */
  seen: readonly SeenRun[];
}

/** What one call of a run spends of one budget. Unnumbered calls count each time. */
export interface Expense {
  amount: number;
  by: { jobId: string; run: number; number: number | null };
}

const WARNED_AT = 0.8;
/** A call that is repeated later than this is counted again. */
const SEEN_MS = 3_600_000;
/** So that the record stays small. */
const MOST_SEEN = 1_000;
/** Sums of fractions would show their binary ends. */
const DIGITS = 9;

export const newState = (limit: number): BudgetState => ({ limit, period: '', spent: 0, told: 'open', seen: [] });

export const stateToRecord = ({ seen, ...rest }: BudgetState): JsonObject => ({
  ...rest,
  seen: seen.map((one) => [...one]),
});

/** Null: what stands there is no budget, and must not stop anybody. */
export function stateFromRecord(value: JsonObject): BudgetState | null {
  const { limit, period, spent, told, seen } = value;
  const isRight =
    typeof limit === 'number' && typeof spent === 'number' && typeof period === 'string' && Array.isArray(seen);
  if (!isRight) return null;
  return { limit, period, spent, told: (told ?? 'open') as BudgetLevel, seen: seen as unknown as SeenRun[] };
}

/** The same limit, in the period of this moment. */
export function stateAt(state: BudgetState, { period }: Pick<Budget, 'period'>, now: number): BudgetState {
  const { name } = periodAt(period, now);
  // What was seen stays: a call of just before may be repeated just after.
  return name === state.period ? state : { ...state, period: name, spent: 0, told: 'open' };
}

/** Null: all of it was counted before, or is nothing. */
export function stateAfter(state: BudgetState, expenses: readonly Expense[], now: number): BudgetState | null {
  let { spent } = state;
  const seen = new Map(state.seen.map((one) => [one[0], one]));
  let isChanged = false;
  for (const { amount, by } of expenses) {
    const known = seen.get(by.jobId);
    if (by.number !== null) {
      if (known !== undefined && (known[1] > by.run || (known[1] === by.run && known[2] >= by.number))) continue;
      if (amount === 0) continue;
      seen.delete(by.jobId);
      seen.set(by.jobId, [by.jobId, by.run, by.number, now]);
    }
    if (amount === 0) continue;
    spent = Number((spent + amount).toFixed(DIGITS));
    isChanged = true;
  }
  if (!isChanged) return null;
  const kept = [...seen.values()].filter(([, , , at]) => at > now - SEEN_MS).slice(-MOST_SEEN);
  return { ...state, spent, seen: kept };
}

export function levelOf({ limit, spent }: BudgetState): BudgetLevel {
  if (spent >= limit) return 'exceeded';
  return spent >= limit * WARNED_AT ? 'warned' : 'open';
}

const RANK: Record<BudgetLevel, number> = { open: 0, warned: 1, exceeded: 2 };

/** What the log is still to be told; null: nothing. A call that passes both bounds tells the second alone. */
export function levelToTell(state: BudgetState): Exclude<BudgetLevel, 'open'> | null {
  const level = levelOf(state);
  return level !== 'open' && RANK[level] > RANK[state.told] ? level : null;
}

export function infoOf(tenant: string, subject: Omit<Budget, 'limit'>, state: BudgetState, now: number): BudgetInfo {
  const { limit, spent } = stateAt(state, subject, now);
  const left = Number(Math.max(0, limit - spent).toFixed(DIGITS));
  const { endsAt } = periodAt(subject.period, now);
  return { id: budgetId(subject), tenant, ...subject, limit, spent, left, isExceeded: spent >= limit, endsAt };
}
