import type { RepoResult } from './repo/repo-result.ts';
import type { Totals } from './usage/spent.ts';
import { cacheEfficiency } from './usage/token-usage.ts';

/** What an agent came to, and what it took: the result of the job, and `artifacts/task-result.json`. */
export interface AgentResult<Output = unknown> {
  output: Output;
  /** Over all runs of the job. */
  usage: {
    inputTokens: number;
    outputTokens: number;
    cacheReadTokens: number;
    cacheCreationTokens: number;
    /** How much of what was read came from the cache, 0 to 100. */
    cacheEfficiency: number;
  };
  /** By the table of prices. */
  costUsd: number;
  /** 'highest': the price of a model is not known, so it was counted at the highest of the table. */
  costBasis: 'list' | 'highest';
  turns: number;
  /** Of this run. */
  durationMs: number;
  /** Attempts of the step in this run. */
  attempts: number;
  sessionId: string;
  /** Only of a task with a repository. */
  repo?: RepoResult;
}

export type Accounts = Pick<AgentResult, 'usage' | 'costUsd' | 'costBasis' | 'turns'>;

export function accountsOf({ usage, costUsd, turns, unpriced }: Totals): Accounts {
  const { inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens } = usage;
  return {
    usage: {
      ...{ inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens },
      cacheEfficiency: cacheEfficiency(usage),
    },
    // Sums of fractions would show their binary ends.
    costUsd: Number(costUsd.toFixed(8)),
    costBasis: unpriced.length === 0 ? 'list' : 'highest',
    turns,
  };
}
