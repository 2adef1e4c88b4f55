import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answers, calls, fails, says } from '../src/testing/index.ts';
import { OUTPUT, start } from './testing/agent.ts';

test('an agent uses a tool, gives structured output, and tells what it took', async () => {
  const agent = await start(
    [
      answers({ files: 2 })
        .using({ inputTokens: 50, outputTokens: 10, cacheReadTokens: 150 })
        .when((request) => request.toolResult('Bash')?.text === 'a\nb'),
      says('Looking.').calls('Bash', { command: 'printf "a\\nb"' }).using({ inputTokens: 200, outputTokens: 30 }),
    ],
    { output: OUTPUT, model: 'claude-sonnet-5', prompt: 'Count the files in {{folder}}.' },
    { input: { folder: '<script>x</script>src' } },
  );
  const result = await agent.result;
  expect(result).toMatchObject({
    output: { files: 2 },
    usage: { inputTokens: 250, outputTokens: 40, cacheReadTokens: 150, cacheCreationTokens: 0, cacheEfficiency: 37.5 },
    costUsd: 0.00093,
    costBasis: 'list',
    turns: 2,
    attempts: 1,
    sessionId: agent.context.job.id,
  });
  expect(agent.model.requests[0]!.prompt).toBe('Count the files in src.');
  expect(agent.model.requests[0]!.model).toBe('claude-sonnet-5');
  expect(agent.model.unexpected).toEqual([]);
  expect(agent.context.of('agent.text')).toEqual([{ text: 'Looking.' }]);
  expect(agent.context.of('agent.tool.ended')).toMatchObject([
    { name: 'Bash', outcome: 'completed', duration_ms: expect.any(Number) },
    { name: 'StructuredOutput' },
  ]);
  expect(agent.context.of('agent.usage').at(-1)).toMatchObject({ turns: 2, cost_usd: 0.00093 });
  expect(JSON.parse(await agent.file('artifacts/task-result.json'))).toEqual(JSON.parse(JSON.stringify(result)));
  const trace = JSON.parse(await agent.file('traces/session_trace.json'));
  expect(trace).toMatchObject({ turns: 2, attempts: [{ queries: 1, error: null }], usage: { cacheEfficiency: 37.5 } });
  expect(trace.toolCalls[0]).toMatchObject({
    name: 'Bash',
    outcome: 'completed',
    input: { command: 'printf "a\\nb"' },
  });
  expect(await agent.file('logs/summary.log')).toContain('completed: 2 turns, 440 tokens, 0.00093 USD');
  const kept = `task/logs/${agent.context.job.id}/traces/session_trace.json`;
  expect(Buffer.from((await agent.context.files.get(kept))!).toString()).toContain('"Bash"');
});

test('without an output the result has the text, and no tool is offered where none is named', async () => {
  const agent = await start([says('Forty-two.')], { tools: [] });
  expect((await agent.result).output).toBe('Forty-two.');
  expect(agent.model.requests[0]!.tools).toEqual([]);
});

test('an output that breaks the rules of its schema is asked for again, and text alone too', async () => {
  const output = z.object({ files: z.number().int() }).refine(({ files }) => files % 2 === 0, 'must be even');
  const agent = await start(
    [says('Two.').times(2), answers({ files: 'two' }), answers({ files: 3 }), answers({ files: 4 })],
    { output },
  );
  expect((await agent.result).output).toEqual({ files: 4 });
  expect(agent.model.problems).toEqual([]);
  expect(agent.model.requests.at(-1)!.prompt).toContain('- the output: must be even');
});

test('an output that stays wrong fails for good', async () => {
  const output = z.object({ files: z.number() }).refine(() => false, 'never right');
  const agent = await start([answers({ files: 1 }).always()], { output });
  expect(await agent.failure()).toMatchObject({ code: 'output_invalid', retryable: false });
  expect(String(await agent.failure())).toContain('never right');
});

test('a refusal that may pass is tried three times in the step, and one session goes on', async () => {
  const agent = await start(
    [calls('Bash', { command: 'echo once >> done.txt' }), fails(500).times(6), answers({ files: 1 })],
    { output: OUTPUT },
  );
  expect(await agent.result).toMatchObject({ output: { files: 1 }, attempts: 3 });
  expect(agent.context.of('agent.retry')).toMatchObject([
    { attempt: 1, code: 'api_error', class: 'server_error' },
    { attempt: 2, code: 'api_error' },
  ]);
  expect(new Set(agent.model.requests.map(({ sessionId }) => sessionId)).size).toBe(1);
  expect(agent.model.requests.at(-1)!.prompt).toContain('Check what was done already');
  expect(agent.model.requests.at(-1)!.hasToolResult('Bash')).toBe(true);
});

test.each([
  [401, false, 'api_error'],
  [400, false, 'api_error'],
])('a refusal with %i is not tried again', async (status, retryable, code) => {
  const agent = await start([fails(status, { message: 'No. sk-ant-planted-key-0123456789' }).always()]);
  expect(await agent.failure()).toMatchObject({ code, retryable, status, details: { status } });
  expect(String(await agent.failure())).not.toContain('planted');
  expect(agent.context.of('agent.retry')).toEqual([]);
});

test('an agent that is not done after its turns fails for good', async () => {
  const agent = await start([calls('Bash', { command: 'echo 1' }).always()], { maxTurns: 2 });
  expect(await agent.failure()).toMatchObject({ code: 'max_turns', retryable: false });
  expect(agent.model.requests).toHaveLength(2);
});

test('a tool that is not named does not run', async () => {
  const agent = await start([calls('Bash', { command: 'touch made.txt' }), says('Refused.')], { tools: ['Read'] });
  expect((await agent.result).output).toBe('Refused.');
  expect(agent.model.requests[0]!.tools).toEqual(['Read']);
  expect(await readdir(agent.cwd)).toEqual(['.output']);
});

test('the agent sees nothing of the environment but what it is given, and its key is masked in what it tells', async () => {
  const agent = await start(
    [answers({ files: 1 }).when((request) => request.hasToolResult()), calls('Bash', { command: 'env' })],
    { output: OUTPUT, env: { GIVEN: 'yes' }, inheritEnv: ['ASKED_*'] },
    { env: { PLANTED_PASSWORD: 'planted-password-1', ASKED_FOR: 'asked' } },
  );
  await agent.result;
  const seen = agent.model.requests[1]!.toolResult('Bash')!.text;
  expect(seen).toContain('GIVEN=yes');
  expect(seen).toContain('ASKED_FOR=asked');
  expect(seen).not.toContain('planted');
  expect(seen).toContain(agent.model.env.ANTHROPIC_API_KEY);
  const told = `${JSON.stringify(agent.context.entries)}${await agent.file('traces/session_trace.json')}`;
  expect(told).not.toContain(agent.model.env.ANTHROPIC_API_KEY);
});
