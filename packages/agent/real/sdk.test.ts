import type * as Real from '@anthropic-ai/claude-agent-sdk';
import { expect, test } from 'vitest';
import { loadSdk } from '../src/sdk/load-sdk.ts';
import type * as Ours from '../src/sdk/sdk-types.ts';
import { says } from '../src/testing/index.ts';
import { costOf, KNOWN_MODELS } from '../src/usage/prices.ts';
import { NO_TOKENS } from '../src/usage/token-usage.ts';
import { model } from './testing/agent.ts';
import { ask } from './testing/ask.ts';

/** Each fails to compile where the SDK does not take what we give it. */
const taken = {
  options: (given: Ours.SdkOptions): Real.Options => given as Real.Options,
  optionNames: (name: keyof Ours.SdkOptions): keyof Real.Options => name,
  store: (given: Ours.SessionStore): Real.SessionStore => given,
  process: (given: Ours.SpawnedProcess): Real.SpawnedProcess => given,
  spawn: (given: Real.SpawnOptions): Ours.SpawnOptions => given,
  event: (given: Ours.HookEvent): Real.HookEvent => given,
  mode: (given: Ours.PermissionMode): Real.PermissionMode => given,
  hooks: (given: Ours.SdkHooks): NonNullable<Real.Options['hooks']> => given,
};

test('the SDK is found beside the module of the task, and takes what we give it', async () => {
  expect((await loadSdk(import.meta.url)).query).toBeTypeOf('function');
  expect(Object.keys(taken)).toHaveLength(8);
});

const SHORT = {
  ...NO_TOKENS,
  inputTokens: 1_000,
  outputTokens: 10_000,
  cacheReadTokens: 7_000,
  cacheCreationTokens: 3_000,
};
const LONG = { ...SHORT, cacheReadTokens: 130_000 };

test.each([
  ['short', SHORT],
  ['long', LONG],
])('the table of prices says what the SDK says, for %s prompts', async (_, used) => {
  const compared: string[] = [];
  for (const name of KNOWN_MODELS) {
    const asked = await model([says('x').using(used)]);
    const result = (await ask(asked, { model: name, tools: [] })).at(-1);
    const told = result?.type === 'result' ? result.modelUsage[name] : undefined;
    // The CLI asks another model in place of one that is not served any more.
    if (told?.costBasis !== 'list') continue;
    compared.push(name);
    expect(costOf(used, name), name).toBeCloseTo(told.costUSD, 6);
  }
  expect(compared.length).toBeGreaterThan(12);
});
