import { checkNames, WaybillError } from '@waybill/core';
import { AgentError } from '../agent-error.ts';
import type { Totals } from './spent.ts';

/** What a job may use, over all its runs, and what it shares with other jobs. */
export interface Budget<Input = unknown> {
  /** Everything that the model reads and writes, from the cache or not. */
  tokens?: number;
  /** US dollars, by the table of prices. A model that is not in it is counted at the highest price. */
  usd?: number;
  /** Whose budgets the job shares, beside those of its tenant, such as a customer. See docs/budgets.md. @defaultValue none */
  key?: string | ((input: Input) => string | undefined);
  /**
   * Where a budget that the job shares is used up: fail, or wait until its period ends and go on then. One without a period,
   * and the job's own, always fails. @defaultValue 'fail'
   */
  whenExceeded?: 'fail' | 'wait';
}

const NAMES: Readonly<Record<keyof Budget, true>> = { tokens: true, usd: true, key: true, whenExceeded: true };

export function checkBudget(budget: Budget, owner: string): void {
  checkNames(`${owner}: 'budget'`, budget, Object.keys(NAMES));
  const { key, whenExceeded } = budget;
  for (const name of ['tokens', 'usd'] as const) {
    const value = budget[name];
    if (value !== undefined && !(typeof value === 'number' && Number.isFinite(value) && value > 0))
      throw new WaybillError('invalid_request', `${owner}: 'budget.${name}' must be a number above 0, not ${value}.`);
  }
  if (key !== undefined && typeof key !== 'function' && (typeof key !== 'string' || key === ''))
    throw new WaybillError('invalid_request', `${owner}: 'budget.key' must be a text or a function that answers one.`);
  if (whenExceeded !== undefined && whenExceeded !== 'fail' && whenExceeded !== 'wait')
    throw new WaybillError(
      'invalid_request',
      `${owner}: 'budget.whenExceeded' must be 'fail' or 'wait', not '${whenExceeded}'.`,
    );
}

/** Whose budgets a job with this input shares. */
export const budgetKeyOf = ({ key }: Budget, input: unknown): string | undefined =>
  typeof key === 'function' ? key(input) : key;

const dollars = (usd: number): string => `${Number(usd.toPrecision(4))} USD`;

/** Null: nothing is exceeded. */
export function exceeded(budget: Budget, totals: Totals): AgentError | null {
  const { tokens = Number.POSITIVE_INFINITY, usd = Number.POSITIVE_INFINITY } = budget;
  if (totals.tokens < tokens && totals.costUsd < usd) return null;
  const [used, of] =
    totals.tokens >= tokens ? [`${totals.tokens} tokens`, `${tokens} tokens`] : [dollars(totals.costUsd), dollars(usd)];
  const unpriced = totals.unpriced.join(', ');
  const why = unpriced === '' ? '' : ` The price of ${unpriced} is not known; it was counted at the highest price.`;
  const message = `The agent was stopped: it has used ${used} of its budget of ${of}.${why} Raise 'budget' and retry the job.`;
  return new AgentError('budget_exceeded', message, {
    retryable: false,
    details: {
      ...{ budget: 'job', tokens: totals.tokens, cost_usd: totals.costUsd, turns: totals.turns },
      ...(budget.tokens !== undefined && { budget_tokens: budget.tokens }),
      ...(budget.usd !== undefined && { budget_usd: budget.usd }),
    },
  });
}
