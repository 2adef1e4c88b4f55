import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answers, calls, says } from '../src/testing/index.ts';
import { folder, model, OUTPUT, start } from './testing/agent.ts';

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

test('a budget of tokens that an answer uses up stops its tool and all further requests', async () => {
  const agent = await start(
    [calls('Bash', { command: 'touch made.txt' }).using({ inputTokens: 900, outputTokens: 200 }).always()],
    {
      budget: { tokens: 1_000 },
    },
  );
  expect(await agent.failure()).toMatchObject({
    code: 'budget_exceeded',
    retryable: false,
    details: { tokens: 1_100 },
  });
  expect(String(await agent.failure())).toContain('1100 tokens of its budget of 1000 tokens');
  expect(agent.model.requests).toHaveLength(1);
});

test('the input of an answer alone stops it in mid-stream, and is counted', async () => {
  const long = 'word '.repeat(200);
  const agent = await start([says(long).using({ inputTokens: 5_000 }).hang()], { budget: { tokens: 4_000 } });
  expect(await agent.failure()).toMatchObject({ code: 'budget_exceeded' });
  const { tokens } = ((await agent.failure()) as { details: { tokens: number } }).details;
  expect(tokens).toBeGreaterThanOrEqual(5_001);
});

test('a long answer is stopped by the estimate of its output', async () => {
  const agent = await start([says('word '.repeat(3_000)).using({ inputTokens: 10 }).hang()], {
    budget: { tokens: 1_000 },
  });
  expect(await agent.failure()).toMatchObject({ code: 'budget_exceeded' });
});

test('a budget of dollars goes by the prices of the model, and one without a price is counted as the highest', async () => {
  const cwd = await folder();
  const turn = calls('Bash', { command: 'echo 1 >> turns.txt' }).using({ inputTokens: 10_000, outputTokens: 0 });
  const known = await start([turn.always()], { model: 'claude-sonnet-5', budget: { usd: 0.05 } }, { cwd });
  expect(await known.failure()).toMatchObject({ code: 'budget_exceeded' });
  expect(known.model.requests).toHaveLength(3);
  const unknown = await start([turn.always()], { model: 'other-model-9', budget: { usd: 0.05 } });
  expect(await unknown.failure()).toMatchObject({ code: 'budget_exceeded' });
  expect(String(await unknown.failure())).toContain('The price of other-model-9 is not known');
  expect(unknown.model.requests).toHaveLength(1);
});

test('an answer that ends the work counts, and is kept', async () => {
  const agent = await start([answers({ files: 1 }).using({ inputTokens: 400, outputTokens: 900 })], {
    output: OUTPUT,
    budget: { tokens: 1_000 },
  });
  expect(await agent.result).toMatchObject({ output: { files: 1 }, usage: { inputTokens: 400, outputTokens: 900 } });
});

test('a guard stops the tool of a budget that an earlier run has used up, before the model is asked', async () => {
  const usage = { inputTokens: 900, outputTokens: 200, cacheReadTokens: 0, cacheCreationTokens: 0 };
  const models = { 'claude-sonnet-5': { usage: { ...usage, cacheCreation1hTokens: 0 }, costUsd: 0.01 } };
  const agent = await start(
    [says('x')],
    { budget: { tokens: 1_000 } },
    { lastCheckpoint: { spent: { models, told: {}, turns: 1 } } },
  );
  expect(await agent.failure()).toMatchObject({ code: 'budget_exceeded' });
  expect(agent.model.requests).toEqual([]);
});

test('the tokens of subagents are counted', async () => {
  const agent = await start(
    (request) => {
      if (request.prompt.includes('Sub work')) return says('Done.').using({ inputTokens: 5_000, outputTokens: 700 });
      return request.hasToolResult()
        ? says('All done.')
        : calls('Agent', { description: 'd', prompt: 'Sub work', subagent_type: 'general-purpose' });
    },
    { tools: ['Agent'] },
  );
  expect((await agent.result).usage).toMatchObject({ inputTokens: 5_200, outputTokens: 740 });
});

test('answers without a stream count as they come, and stop the agent within one turn', async () => {
  const turn = calls('Bash', { command: 'echo 1 >> turns.txt' }).using({ inputTokens: 900, outputTokens: 200 });
  const whole = await model([turn.always()], { streams: false });
  const agent = await start([], { budget: { tokens: 2_000 } }, { model: whole });
  expect(await agent.failure()).toMatchObject({ code: 'budget_exceeded', details: { tokens: 2_200, turns: 2 } });
  expect(whole.requests).toHaveLength(2);
  expect(await readFile(join(agent.cwd, 'turns.txt'), 'utf8')).toBe('1\n');
});

test('an answer without a stream that ends the work counts once', async () => {
  const whole = await model([says('Looking.').answers({ files: 1 }).using({ inputTokens: 400, outputTokens: 90 })], {
    streams: false,
  });
  const agent = await start([], { output: OUTPUT }, { model: whole });
  expect(await agent.result).toMatchObject({ turns: 1, usage: { inputTokens: 400, outputTokens: 90 } });
});

test('no tool runs over the budget, whatever hooks of the user allow', async () => {
  const allow = async () => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } });
  const agent = await start([calls('Bash', { command: 'touch made.txt' }).using({ inputTokens: 2_000 }).always()], {
    budget: { tokens: 1_000 },
    hooks: { PreToolUse: [{ hooks: [allow] }] },
  });
  expect(await agent.failure()).toMatchObject({ code: 'budget_exceeded' });
  expect(await exists(join(agent.cwd, 'made.txt'))).toBe(false);
});
