import { join } from 'node:path';
import { WaybillError } from '@waybill/core';
import { expect, test } from 'vitest';
import { answers, calls, hangs, says } from '../src/testing/index.ts';
import { OUTPUT, start } from './testing/agent.ts';
import { ENDLESS, gone, pidIn } from './testing/processes.ts';

const LONG = 'A long answer, which is longer than one delta can be, so that its middle is text.';

test('cancel stops a running tool within five seconds, and no process is left', async () => {
  const agent = await start([calls('Bash', { command: ENDLESS, timeout: 600_000 }).always()]);
  const pid = await pidIn(join(agent.cwd, 'pid.txt'));
  const reason = new WaybillError('conflict', 'The job was cancelled.');
  const before = performance.now();
  agent.context.abort(reason);
  expect(await agent.failure()).toBe(reason);
  expect(performance.now() - before).toBeLessThan(5_000);
  await gone(pid, 0);
  const trace = JSON.parse(await agent.file('traces/session_trace.json'));
  expect(trace.toolCalls).toMatchObject([{ name: 'Bash' }]);
  expect(agent.model.requests).toHaveLength(1);
});

test('what a tool has left in the background in a session of its own ends with the agent', async () => {
  const command = '(setsid sh -c "echo \\$\\$ > pid.txt; exec sleep 300" > /dev/null 2>&1 &) ; sleep 0.2; echo left';
  const agent = await start(
    [answers({ files: 1 }).when((request) => request.hasToolResult()), calls('Bash', { command })],
    { output: OUTPUT },
  );
  await agent.result;
  await gone(await pidIn(join(agent.cwd, 'pid.txt')), 0);
});

test('a cancel before the model has answered ends the agent', async () => {
  const agent = await start([hangs().always()]);
  await agent.model.received(1);
  agent.context.abort(new WaybillError('conflict', 'The job was cancelled.'));
  expect(await agent.failure()).toMatchObject({ code: 'conflict' });
});

test('a cancel before anything has begun starts nothing', async () => {
  const agent = await start([says('x')]);
  agent.context.abort(new WaybillError('conflict', 'The job was cancelled.'));
  expect(await agent.failure()).toMatchObject({ code: 'conflict' });
  expect(agent.model.requests).toEqual([]);
});

test('a stream that hangs is given up, and the next attempt goes on with the session', async () => {
  const agent = await start([says(LONG).hang(), answers({ files: 1 })], { output: OUTPUT, silence: 3_000 });
  expect(await agent.result).toMatchObject({ output: { files: 1 }, attempts: 2 });
  expect(agent.context.of('agent.retry')).toMatchObject([{ code: 'agent_stalled' }]);
});

test('an agent that takes longer than its step is tried again, and fails as timed out', async () => {
  const agent = await start([calls('Bash', { command: 'sleep 300', timeout: 600_000 }).always()], { timeout: 1 });
  // Clamped to a second, of which the start of the CLI takes a part.
  expect(await agent.failure()).toMatchObject({
    code: 'agent_timeout',
    retryable: true,
    details: { timeout_ms: 1_000 },
  });
  expect(agent.context.of('agent.retry')).toHaveLength(2);
});

test('a transcript that cannot be kept ends the run', async () => {
  const lost = new WaybillError('lease_lost', 'The lease is lost.');
  const files = { get: async () => null, put: async () => Promise.reject(lost) };
  const agent = await start([calls('Bash', { command: 'echo 1' }).always()], {}, { files });
  expect(await agent.failure()).toBe(lost);
  expect(agent.model.requests.length).toBeLessThan(5);
});
