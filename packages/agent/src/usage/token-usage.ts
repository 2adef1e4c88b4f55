import type { SdkModelUsage, SdkUsage } from '../sdk/sdk-messages.ts';

/** Tokens of some answers of one model. What was read from the cache and written to it is not among `inputTokens`. */
export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  /** All of them, those that are kept for an hour included. */
  cacheCreationTokens: number;
  /** Kept for an hour, which costs more than the usual five minutes. */
  cacheCreation1hTokens: number;
}

export const NO_TOKENS: Readonly<TokenUsage> = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheCreationTokens: 0,
  cacheCreation1hTokens: 0,
};

const FIELDS = Object.keys(NO_TOKENS) as (keyof TokenUsage)[];

const byField = (of: (field: keyof TokenUsage) => number): TokenUsage =>
  Object.fromEntries(FIELDS.map((field) => [field, of(field)])) as unknown as TokenUsage;

export const sum = (usages: Iterable<TokenUsage>): TokenUsage => {
  const all = [...usages];
  return byField((field) => all.reduce((total, usage) => total + usage[field], 0));
};

/** Field by field; never below zero. */
export const difference = (a: TokenUsage, b: TokenUsage): TokenUsage =>
  byField((field) => Math.max(0, a[field] - b[field]));

/** Everything that the model has read or written, from the cache or not. */
export const totalTokens = ({ inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens }: TokenUsage): number =>
  inputTokens + outputTokens + cacheReadTokens + cacheCreationTokens;

/** How much of what the model has read came from the cache, 0 to 100. */
export function cacheEfficiency({ inputTokens, cacheReadTokens, cacheCreationTokens }: TokenUsage): number {
  const read = inputTokens + cacheReadTokens + cacheCreationTokens;
  return read === 0 ? 0 : Math.round((cacheReadTokens / read) * 1_000) / 10;
}

/** As the Messages API tells it. */
export const fromApi = (usage: SdkUsage): TokenUsage => ({
  inputTokens: usage.input_tokens ?? 0,
  outputTokens: usage.output_tokens ?? 0,
  cacheReadTokens: usage.cache_read_input_tokens ?? 0,
  cacheCreationTokens: usage.cache_creation_input_tokens ?? 0,
  cacheCreation1hTokens: usage.cache_creation?.ephemeral_1h_input_tokens ?? 0,
});

/** As a result of the CLI tells it of one model. */
export const fromModel = (usage: SdkModelUsage): TokenUsage => ({
  inputTokens: usage.inputTokens,
  outputTokens: usage.outputTokens,
  cacheReadTokens: usage.cacheReadInputTokens,
  cacheCreationTokens: usage.cacheCreationInputTokens,
  cacheCreation1hTokens: usage.cacheCreationEphemeral1hInputTokens ?? 0,
});
