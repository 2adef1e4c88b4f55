import type { Job, Outcome } from '@waybill/core';
import { testEngine } from '@waybill/core/testing';
import { type AnyTask, requestFor } from '@waybill/worker';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { AgentError } from './agent-error.ts';
import { agentTask } from './agent-task.ts';
import { defaultVerdict } from './run/outside.ts';

const BASE = { name: 'agent.test', prompt: 'Count.', tools: [] };
const define = (options: object) => () => agentTask({ ...BASE, ...options } as never);

describe('a run that takes too long', () => {
  const slow = agentTask({ ...BASE, runTimeout: 60_000, retry: { max_attempts: 3 } });

  async function claimed(task: AnyTask) {
    const engine = testEngine();
    const { job } = await engine.waybill.jobs.enqueue(await requestFor(task, undefined));
    const lease = await engine.claimOne({ leaseMs: 600_000 });
    return { ...engine, id: job.id, lease };
  }

  /** What a job comes to whose first run ends so. */
  async function after(task: AnyTask, outcome: Outcome): Promise<Job> {
    const { waybill, id, lease } = await claimed(task);
    return await waybill.jobs.settle({ id, leaseToken: lease.token, outcome });
  }

  test('is final where the engine has ended it', async () => {
    const { waybill, clock, id } = await claimed(slow as AnyTask);
    await clock.advance(61_000);
    expect(await waybill.jobs.get(id)).toMatchObject({ state: 'discarded', errors: [{ code: 'timeout' }] });
  });

  test('is final where its worker has killed the process', async () => {
    const error = { code: 'timeout', message: 'The process exceeded its timeout.' };
    expect((await after(slow as AnyTask, { kind: 'failed', error })).state).toBe('discarded');
  });

  test('is tried again where the agent was aborted inside', async () => {
    const inside = new AgentError('agent_timeout', 'The agent did not end within 1 s.', { retryable: true });
    expect(defaultVerdict(inside)).toMatchObject({ retryable: true });
    const error = { code: inside.code, message: inside.message, retryable: true };
    expect((await after(slow as AnyTask, { kind: 'failed', error })).state).toBe('retryable');
  });

  test('is tried again where the task says which errors are final', async () => {
    const task = agentTask({ ...BASE, runTimeout: 60_000, retry: { non_retryable_errors: ['auth.*'] } });
    const error = { code: 'timeout', message: 'The process exceeded its timeout.' };
    expect((await after(task as AnyTask, { kind: 'failed', error })).state).toBe('retryable');
  });
});

describe('a definition is refused where it is written', () => {
  test.each<[object, string]>([
    [{ name: 'Agent Test' }, 'Invalid task name'],
    [{ prompt: ' ' }, "'prompt' must be a text or a function"],
    [{ prompt: 'In {{folder' }, "invalid placeholder '{{folder'"],
    [{ prompt: 'In {{a b}}' }, "invalid placeholder '{{a b}}'"],
    [
      { prompt: 'In {{folder}}', input: z.object({ file: z.string() }) },
      "has the placeholder '{{folder}}', and the input has only: file, input, parentResults, job",
    ],
    [{ tools: undefined }, "'tools' must be a list of names"],
    [{ tools: [''] }, "'tools' must be a list of names"],
    [{ maxTurns: 0 }, "'maxTurns' must be a whole number above 0, not 0"],
    [{ timeout: -1 }, "'timeout' must be milliseconds above 0, not -1"],
    [{ silence: Number.NaN }, "'silence' must be milliseconds above 0"],
    [{ permissionMode: 'acceptEdit' }, "'permissionMode' must be one of"],
    [{ budget: { usd: 0 } }, "'budget.usd' must be a number above 0, not 0"],
    [{ outputFile: '../result.json' }, "'outputFile' must be the name of a file"],
    [{ output: { type: 'array' } }, "'output' must describe an object"],
    [{ output: { type: 'object', properties: { a: { type: 'text' } } } }, "'output' is no JSON Schema of draft 7"],
    [{ mcpServers: { crm: { command: 'crm' } } }, "names no tool of the MCP server 'crm'. Add 'mcp__crm'"],
    [{ mcpServers: { crm: { type: 'sdk' } }, tools: ['mcp__crm'] }, "'mcpServers' must be a function"],
    [{ maxturns: 3 }, "Did you mean 'maxTurns'?"],
    [{ isolate: { memoryMB: 3 }, module: import.meta.url }, "Did you mean 'memoryMb'?"],
    [{ isolate: { memoryMb: 100 } }, "'isolate' needs 'module: import.meta.url' beside it"],
    [{ isolate: { memory: 1 } }, "'isolate' needs 'module: import.meta.url' beside it"],
    [{ isolate: { env: {} }, module: import.meta.url }, "Put 'env' beside 'isolate'"],
    [{ isolate: { inheritEnv: ['A'] }, module: import.meta.url }, "Put 'inheritEnv' beside 'isolate'"],
    [{ isolate: { module: import.meta.url } }, "Put 'module' beside 'isolate'"],
    [{ isolate: { command: ['ls'] }, module: import.meta.url }, "an object with either 'module' or 'command'"],
  ])('%j', (options, message) => {
    expect(define(options)).toThrow(message);
  });
});

test('a task with a module has a process of its own, which gets what an agent needs of the environment', () => {
  const { isolate, runner, classifyErrors } = agentTask({
    ...BASE,
    module: import.meta.url,
    isolate: { memoryMb: 512 },
    inheritEnv: ['GITHUB_TOKEN'],
  });
  expect({ runner, classifyErrors }).toEqual({ runner: 'isolated', classifyErrors: true });
  expect(isolate).toMatchObject({ module: import.meta.url, memoryMb: 512 });
  expect(isolate?.inheritEnv).toEqual(
    expect.arrayContaining(['ANTHROPIC_*', 'CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_MODEL', 'GITHUB_TOKEN']),
  );
  expect(isolate?.inheritEnv).not.toContain('AWS_SECRET_ACCESS_KEY');
  expect(agentTask(BASE).runner).toBe('in-process');
});
