import type { BudgetInfo } from '@waybill/core';
import type { AgentContext } from '../agent-definition.ts';
import { AgentError } from '../agent-error.ts';
import type { Totals } from './spent.ts';

/** How long a tool waits for what the engine says of the answer that asks for it. */
const ANSWER_MS = 5_000;

interface Parts {
  context: Pick<AgentContext, 'spend' | 'log'>;
  /** Whose budgets count beside those of the tenant. */
  key: string | undefined;
  /** What earlier runs of the job have told already. */
  from: Pick<Totals, 'tokens' | 'costUsd'>;
}

/**
 * What an agent uses of budgets that it shares with other jobs. It tells the engine after each answer of the model, and knows
 * what the engine says before the next tool runs. While the engine cannot be reached the agent goes on: what it uses
 * meanwhile is told later, see `context.spend`.
 */
export class SharedBudgets {
  readonly #parts: Parts;
  #told: Parts['from'];
  #telling: Promise<void> | undefined;
  #exceeded: AgentError | null = null;
  #hasWarned = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#told = parts.from;
  }

  /** Before a request to the model. Throws where a budget is used up. */
  async check(): Promise<void> {
    this.#telling ??= this.#spend(0, 0);
    const exceeded = await this.settled();
    if (exceeded !== null) throw exceeded;
  }

  /** What the job has used by now, over all its runs. */
  report({ tokens, costUsd }: Pick<Totals, 'tokens' | 'costUsd'>): void {
    const [more, usd] = [tokens - this.#told.tokens, costUsd - this.#told.costUsd];
    if (more <= 0 && usd <= 0) return;
    this.#told = { tokens: Math.max(tokens, this.#told.tokens), costUsd: Math.max(costUsd, this.#told.costUsd) };
    this.#telling = this.#spend(Math.max(0, more), Math.max(0, usd));
  }

  /** Why the agent must stop, once the model has ended its answer, and the engine has answered what was told last. */
  async settled(answered: Promise<void> = Promise.resolve()): Promise<AgentError | null> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ANSWER_MS);
    await Promise.race([answered.then(() => this.#telling), late]);
    clearTimeout(timer);
    return this.#exceeded;
  }

  async #spend(tokens: number, usd: number): Promise<void> {
    const { context, key } = this.#parts;
    try {
      const { exceeded } = await context.spend({ tokens, usd }, { key });
      this.#exceeded = exceeded.length === 0 ? null : usedUp(exceeded);
    } catch (error) {
      if (this.#hasWarned) return;
      this.#hasWarned = true;
      const reason = error instanceof Error ? error.message : String(error);
      context.log('Budgets that the agent shares could not be asked; it goes on.', { reason }, { level: 'warn' });
    }
  }
}

/** Of several the one that lasts longest: before it ends, another attempt cannot help. */
function usedUp(exceeded: readonly BudgetInfo[]): AgentError {
  const endOf = ({ endsAt }: BudgetInfo): number => endsAt ?? Number.POSITIVE_INFINITY;
  const { id, key, unit, period, limit, spent, endsAt } = exceeded.reduce((a, b) => (endOf(b) > endOf(a) ? b : a));
  const whose = key === null ? 'the tenant' : `the key '${key}'`;
  const per = period === 'total' ? '' : ` per ${period}`;
  const ends = endsAt === null ? null : new Date(endsAt).toISOString();
  const when = ends === null ? '' : ` It begins anew at ${ends}.`;
  const message = `The agent was stopped: the jobs of ${whose} have used ${spent} ${unit} of their budget of ${limit} ${unit}${per}.${when} Raise the budget '${id}' and retry the job.`;
  const details = { budget: key === null ? 'tenant' : 'key', budget_id: id, key, unit, limit, spent, ends_at: ends };
  return new AgentError('budget_exceeded', message, { retryable: false, details });
}

/** When the budget that has stopped an agent begins anew; null: it was not stopped by one, or it never does. */
export function budgetEnd(error: unknown): Date | null {
  if (!(error instanceof AgentError) || error.code !== 'budget_exceeded') return null;
  const { ends_at: ends } = error.details;
  return typeof ends === 'string' ? new Date(ends) : null;
}
