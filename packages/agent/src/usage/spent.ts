import type { JsonObject } from '@waybill/core';
import type { SdkModelUsage } from '../sdk/sdk-messages.ts';
import { costOf, knownPrice, type PriceTable } from './prices.ts';
import { difference, fromModel, NO_TOKENS, sum, type TokenUsage, totalTokens } from './token-usage.ts';

/** What the answers of one model have used. The cost is kept beside the tokens, because it is known by answer only. */
export interface ModelUse {
  usage: TokenUsage;
  costUsd: number;
}

export type UseByModel = Readonly<Record<string, ModelUse>>;

/** What a job has used so far, over all its runs. Plain data, because it travels in the checkpoint. */
export interface SpentState {
  models: UseByModel;
  /** What the last result has told of the session: it adds up over resumes, so only what came since is new. */
  told: Readonly<Record<string, TokenUsage>>;
  turns: number;
}

export interface Totals {
  usage: TokenUsage;
  tokens: number;
  costUsd: number;
  turns: number;
  /** Models that were counted at the highest price, because their own is not known. */
  unpriced: string[];
}

const NOTHING: SpentState = { models: {}, told: {}, turns: 0 };
const UNUSED: ModelUse = { usage: NO_TOKENS, costUsd: 0 };

/** Adds up what the queries of a job use. */
export class Spent {
  #state: SpentState;
  readonly #prices: PriceTable;

  constructor(state: SpentState = NOTHING, prices: PriceTable = {}) {
    this.#state = state;
    this.#prices = prices;
  }

  /** The newest state that an earlier run has left, in its checkpoint or with its files. What is no such state does not count. */
  static from(checkpoint: JsonObject | null | undefined, kept: unknown, prices?: PriceTable): Spent {
    const found = [checkpoint?.['spent'], kept].filter(isState).map((state) => new Spent(state, prices));
    return found.reduce((a, b) => (b.totals().tokens > a.totals().tokens ? b : a), new Spent(NOTHING, prices));
  }

  copy(): Spent {
    return new Spent(this.#state, this.#prices);
  }

  get state(): SpentState {
    return this.#state;
  }

  /** With what a query that is not over has used so far. */
  totals(running: UseByModel = {}, turns = 0): Totals {
    const models = added(this.#state.models, running);
    const usage = sum(Object.values(models).map((use) => use.usage));
    return {
      usage,
      tokens: totalTokens(usage),
      costUsd: Object.values(models).reduce((cost, use) => cost + use.costUsd, 0),
      turns: this.#state.turns + turns,
      unpriced: Object.keys(models).filter((model) => knownPrice(model, this.#prices) === null),
    };
  }

  /**
   * Counts a query that is over. `seen` is what came by in its stream, and `told` what its result says of the session. The
   * stream knows of answers that were cut off, and the result of subagents: what only the result knows is added.
   */
  add(seen: UseByModel, turns: number, told?: Readonly<Record<string, SdkModelUsage>>): void {
    const all = Object.fromEntries(Object.entries(told ?? {}).map(([model, usage]) => [model, fromModel(usage)]));
    const missed = Object.entries(all).map(([model, usage]): [string, ModelUse] => {
      const since = difference(usage, this.#state.told[model] ?? NO_TOKENS);
      const unseen = difference(since, seen[model]?.usage ?? NO_TOKENS);
      return [model, { usage: unseen, costUsd: costOf(unseen, model, this.#prices) }];
    });
    this.#state = {
      models: added(added(this.#state.models, seen), Object.fromEntries(missed)),
      told: { ...this.#state.told, ...all },
      turns: this.#state.turns + turns,
    };
  }
}

/** A checkpoint may be of another version of the task. */
function isState(given: unknown): given is SpentState {
  const state = given as Partial<SpentState> | null | undefined;
  return (
    typeof state?.turns === 'number' &&
    typeof state.told === 'object' &&
    typeof state.models === 'object' &&
    Object.values(state.models).every((use) => typeof use?.costUsd === 'number')
  );
}

export const added = (a: UseByModel, b: UseByModel): UseByModel => ({
  ...a,
  ...Object.fromEntries(
    Object.entries(b).map(([model, use]) => {
      const known = a[model] ?? UNUSED;
      return [model, { usage: sum([known.usage, use.usage]), costUsd: known.costUsd + use.costUsd }];
    }),
  ),
});
