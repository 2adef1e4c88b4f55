import type { TokenUsage } from './token-usage.ts';

/** US dollars for a million tokens. */
export interface Price {
  input: number;
  output: number;
  cacheRead: number;
  /** Kept for five minutes. What is kept for an hour costs twice the input. */
  cacheWrite: number;
  /** Answers to prompts with more tokens than this cost so many times as much. */
  long?: { above: number; times: number };
}

const price = (input: number, output: number, cacheRead = input / 10): Price => ({
  ...{ input, output, cacheRead },
  cacheWrite: input * 1.25,
});

/** By the names of the Messages API, without dates. A test compares them with those of the SDK. */
const PRICES: Readonly<Record<string, Price>> = {
  'claude-opus-5-5': price(4, 20, 0.2),
  'claude-opus-5': price(5, 25),
  'claude-opus-4-8': price(5, 25),
  'claude-opus-4-7': price(5, 25),
  'claude-opus-4-6': price(5, 25),
  'claude-opus-4-5': price(5, 25),
  'claude-opus-4-1': price(15, 75),
  'claude-opus-4': price(15, 75),
  'claude-fable-5': price(10, 50),
  'claude-mythos-5': price(10, 50),
  'claude-sonnet-5-5': price(2, 10, 0.1),
  'claude-sonnet-5': price(2, 10),
  'claude-sonnet-4-6': price(3, 15),
  'claude-sonnet-4-5': price(3, 15),
  'claude-sonnet-4': price(3, 15),
  'claude-3-7-sonnet': price(3, 15),
  'claude-haiku-5-5': { ...price(0.1, 0.5), long: { above: 100_000, times: 5 } },
  'claude-haiku-4-5': price(1, 5),
  'claude-3-5-haiku': price(0.8, 4),
};

const highest = (of: 'input' | 'output' | 'cacheRead' | 'cacheWrite'): number =>
  Math.max(...Object.values(PRICES).map((one) => one[of]));
/** A model that the table does not know is counted like this, so that a budget of it is never exceeded. */
const HIGHEST: Price = {
  input: highest('input'),
  output: highest('output'),
  cacheRead: highest('cacheRead'),
  cacheWrite: highest('cacheWrite'),
};

/** Prices by the name of a model, for models that the table does not know, or with terms of one's own. */
export type PriceTable = Readonly<Record<string, Price>>;

export const KNOWN_MODELS: readonly string[] = Object.keys(PRICES);

/** Null: the model is in neither table. Providers put a region before the name, and a date and a version behind it. */
export function knownPrice(model: string, own: PriceTable = {}): Price | null {
  const name = model
    .replace(/^.*?(?=claude-)/, '')
    .replace(/\[.*\]$/, '')
    .replace(/[-@]\d{8}.*$|-latest$|-v\d+(:\d+)?$/, '');
  return own[model] ?? own[name] ?? PRICES[name] ?? null;
}

const MILLION = 1_000_000;

/** Of one answer, because its price may depend on how long its prompt was. */
export function costOf(usage: TokenUsage, model: string, own?: PriceTable): number {
  const { input, output, cacheRead, cacheWrite, long } = knownPrice(model, own) ?? HIGHEST;
  const { inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens } = usage;
  const hour = Math.min(usage.cacheCreation1hTokens, cacheCreationTokens);
  const dollars =
    inputTokens * input +
    outputTokens * output +
    cacheReadTokens * cacheRead +
    (cacheCreationTokens - hour) * cacheWrite +
    hour * 2 * input;
  const prompt = inputTokens + cacheReadTokens + cacheCreationTokens;
  const times = long !== undefined && prompt > long.above ? long.times : 1;
  return (dollars * times) / MILLION;
}
