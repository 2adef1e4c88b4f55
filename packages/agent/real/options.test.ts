import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createSdkMcpServer, tool } from '@anthropic-ai/claude-agent-sdk';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answers, calls, fails, says } from '../src/testing/index.ts';
import { folder, OUTPUT, start } from './testing/agent.ts';

/** Only root can make a file that nobody can remove, and not on every file system. */
const lacksImmutable = ((): boolean => {
  const path = mkdtempSync(join(tmpdir(), 'waybill-immutable-'));
  const lacks = spawnSync('chattr', ['+i', path]).status !== 0;
  if (!lacks) spawnSync('chattr', ['-i', path]);
  rmdirSync(path);
  return lacks;
})();

/** A server with the one tool `find`. */
function crm() {
  const find = tool('find', 'Finds a customer.', { id: z.number() }, async ({ id }) => ({
    content: [{ type: 'text', text: `customer ${id}` }],
  }));
  return { crm: createSdkMcpServer({ name: 'crm', version: '1.0.0', tools: [find] }) };
}

test('tools of MCP servers in this process may be called, and each query gets a server of its own', async () => {
  let made = 0;
  const mcpServers = () => {
    made += 1;
    return crm();
  };
  const agent = await start([calls('mcp__crm__find', { id: 7 }), answers({ files: -1 }), answers({ files: 1 })], {
    tools: ['mcp__crm__find'],
    mcpServers,
    output: z.object({ files: z.number().refine((files) => files > 0) }),
  });
  expect((await agent.result).output).toEqual({ files: 1 });
  expect(agent.model.requests[1]!.toolResult('mcp__crm__find')).toMatchObject({ text: 'customer 7', isError: false });
  expect(made).toBe(2);
});

test('without a key the run fails for good, and says how to give it one', async () => {
  const env = { ANTHROPIC_API_KEY: undefined };
  const agent = await start([says('x')], { tools: [] }, { env });
  const failure = await agent.failure();
  expect(failure).toMatchObject({ code: 'api_key_missing', retryable: false });
  expect(String(failure)).toContain(
    'Set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN in the environment of the worker',
  );
  expect(JSON.parse(await agent.file('traces/session_trace.json')).attempts).toHaveLength(1);
});

test.each<[string, object, string, boolean]>([
  ['a built-in tool', { tools: ['Bsah'] }, "Claude Code does not offer it. Did you mean 'Bash'?", false],
  ['a server', { tools: ['mcp__crm__find'] }, "The task has no MCP server 'crm'.", false],
  ['a tool of a server', { tools: ['mcp__crm__fnid'], mcpServers: crm }, "Did you mean 'mcp__crm__find'?", false],
  [
    'a server that does not start',
    { tools: ['mcp__crm'], mcpServers: { crm: { type: 'stdio', command: '/nowhere' } } },
    'is not connected (failed)',
    true,
  ],
])('a task that names %s which is missing fails, and no tool runs', async (_, definition, why, retryable) => {
  const agent = await start([calls('Bash', { command: 'echo > made.txt' }).always()], definition);
  expect(await agent.failure()).toMatchObject({ code: 'tool_missing', retryable });
  expect(String(await agent.failure())).toContain(why);
  await expect(readFile(join(agent.cwd, 'made.txt'))).rejects.toThrow();
});

test('tools by their other names, of whole servers and with rules are not missing', async () => {
  const tools = ['Agent', 'Bash(git log:*)', 'Grep', 'TodoWrite', 'mcp__crm'];
  const agent = await start([says('x')], { tools, mcpServers: crm });
  expect((await agent.result).output).toBe('x');
});

test('hooks of the user run beside ours, and may end the agent', async () => {
  const seen: string[] = [];
  const note = async ({ tool_name }: { tool_name: string }) => {
    seen.push(tool_name);
    return { continue: false, stopReason: 'Enough.' };
  };
  const agent = await start([calls('Bash', { command: 'echo 1' }).always()], {
    hooks: { PostToolUse: [{ matcher: 'Bash', hooks: [note] }] },
  });
  expect(await agent.failure()).toMatchObject({ code: 'hook_stopped', retryable: false });
  expect(seen).toEqual(['Bash']);
  expect(agent.model.requests).toHaveLength(1);
});

test('the to-do list is timed', async () => {
  const list = (first: string, second: string): object[] => [
    { content: 'Look', status: first, activeForm: 'Looking' },
    { content: 'Count', status: second, activeForm: 'Counting' },
  ];
  const agent = await start(
    [
      calls('TodoWrite', { todos: list('in_progress', 'pending') }),
      calls('TodoWrite', { todos: list('completed', 'in_progress') }),
      answers({ files: 1 }),
    ],
    { tools: ['TodoWrite'], output: OUTPUT },
  );
  await agent.result;
  const { todos } = JSON.parse(await agent.file('traces/session_trace.json'));
  expect(todos).toMatchObject([
    { content: 'Look', state: 'completed', completedAt: expect.any(Number) },
    { content: 'Count', state: 'in_progress', completedAt: null },
  ]);
  expect(todos[0].inProgressMs).toBeGreaterThan(0);
  expect(todos[1].pendingMs).toBeGreaterThan(0);
  expect(agent.context.of('agent.todos')).toHaveLength(2);
});

test('CLAUDE_MODEL names the model of tasks that name none, and inherit leaves it to the SDK', async () => {
  const asked = async (env: Record<string, string>, definition: object = {}) => {
    const agent = await start([says('x')], { tools: [], ...definition }, { env });
    await agent.result;
    return agent.model.requests[0]!.model;
  };
  expect(await asked({ CLAUDE_MODEL: 'claude-haiku-4-5' })).toBe('claude-haiku-4-5');
  expect(await asked({ CLAUDE_MODEL: 'claude-haiku-4-5' }, { model: 'claude-sonnet-5' })).toBe('claude-sonnet-5');
  expect(await asked({ CLAUDE_MODEL: 'inherit' })).toMatch(/^claude-/);
});

test('CLAUDE_SKIP_PERMISSIONS lets every tool run that is offered', async () => {
  const turns = [calls('Bash', { command: 'git init -q . && curl --version > made.txt; echo ok' }), says('Done.')];
  const skipped = await start(
    turns,
    { tools: ['Bash'] },
    { env: { CLAUDE_SKIP_PERMISSIONS: 'true', IS_SANDBOX: '1' } },
  );
  await skipped.result;
  expect(skipped.model.requests[1]!.toolResult('Bash')).toMatchObject({ text: 'ok' });
});

test.skipIf(process.getuid?.() !== 0)('as root it says what Claude Code would refuse (only as root)', async () => {
  const agent = await start([says('x')], {}, { env: { CLAUDE_SKIP_PERMISSIONS: 'true' } });
  expect(await agent.failure()).toMatchObject({ code: 'unsupported', hint: expect.stringContaining('IS_SANDBOX=1') });
});

test('CLAUDE_CODE_PATH names the program', async () => {
  const require = createRequire(import.meta.url);
  const sdk = dirname(require.resolve('@anthropic-ai/claude-agent-sdk'));
  const real = join(dirname(sdk), `claude-agent-sdk-${process.platform}-${process.arch}`, 'claude');
  const own = join(await folder(), 'claude');
  await writeFile(own, `#!/bin/sh\necho "$#" > ${own}.called\nexec ${real} "$@"\n`);
  await chmod(own, 0o755);
  const agent = await start([says('x')], { tools: [] }, { env: { CLAUDE_CODE_PATH: own } });
  await agent.result;
  expect(Number(await readFile(`${own}.called`, 'utf8'))).toBeGreaterThan(0);
});

test('a program that cannot be started fails with what happened', async () => {
  const agent = await start([says('x')], { tools: [] }, { env: { CLAUDE_CODE_PATH: '/nowhere/claude' } });
  expect(await agent.failure()).toMatchObject({ code: 'agent_process_failed' });
});

test('a rate limit that asks for a moment is waited for by the CLI, and told', async () => {
  const agent = await start([fails(429, { retryAfter: 1 }), says('x')], { tools: [] });
  expect((await agent.result).output).toBe('x');
  expect(agent.context.of('agent.api_retry')).toMatchObject([{ attempt: 1, status: 429 }]);
});

test('what the task makes of the output is the output of the job', async () => {
  const agent = await start([answers({ files: 2 })], {
    output: OUTPUT,
    processOutput: (output) => ({ double: (output as { files: number }).files * 2 }),
  });
  expect((await agent.result).output).toEqual({ double: 4 });
});

test('an extension may pause the agent and go on with it in a later run', async () => {
  const snoozed = new Error('snoozed');
  const files = new Map<string, Uint8Array>();
  const kept = {
    put: async (name: string, data: Uint8Array) => void files.set(name, data),
    get: async (name: string) => files.get(name) ?? null,
  };
  const ask = (sdk: unknown) => {
    const { createSdkMcpServer: server, tool: define } = sdk as typeof import('@anthropic-ai/claude-agent-sdk');
    const question = define('ask', 'Asks a person.', { question: z.string() }, async () => ({
      content: [{ type: 'text', text: 'The question is recorded.' }],
    }));
    return { human: server({ name: 'human', version: '1.0.0', tools: [question] }) };
  };
  const extension = {
    mcpServers: ask,
    tools: ['mcp__human__ask'],
    hooks: { PostToolUse: [{ matcher: 'mcp__human__ask', hooks: [async () => ({ continue: false })] }] },
  };
  const turns = [calls('mcp__human__ask', { question: 'Which folder?' }), answers({ files: 5 })];
  const paused = () => {
    throw snoozed;
  };
  const first = await start(turns, { tools: [], output: OUTPUT }, { files: kept, extension: { ...extension, paused } });
  expect(await first.failure()).toBe(snoozed);
  const next = await start(
    [],
    { tools: [], output: OUTPUT },
    { files: kept, run: 2, model: first.model, extension: { ...extension, resumePrompt: 'The answer is: src.' } },
  );
  expect((await next.result).output).toEqual({ files: 5 });
  expect(first.model.requests.at(-1)!.prompt).toBe('The answer is: src.');
});

test('the files of a run are removed once they are kept with the job, where that is wished for', async () => {
  const agent = await start([says('x')], { tools: [] }, { env: { DELETE_FILES_AFTER_UPLOAD: 'true' } });
  await agent.result;
  await expect(agent.file('logs/summary.log')).rejects.toThrow('ENOENT');
  for (const name of ['artifacts/task-result.json', 'logs/summary.log', 'traces/session_trace.json'])
    expect(await agent.context.files.get(`task/logs/${agent.context.job.id}/${name}`)).not.toBeNull();
});

// fault: what the agent leaves cannot be removed
test.skipIf(lacksImmutable)('folders that cannot be removed do not fail the run, and it warns', async () => {
  const tmp = await folder();
  const keep = calls('Bash', { command: '> "$HOME/kept"; chattr +i "$HOME/kept"' });
  const agent = await start([keep, answers({ files: 1 })], { output: OUTPUT }, { env: { TMPDIR: tmp } });
  await agent.failure();
  spawnSync('chattr', ['-R', '-i', tmp]);
  expect((await agent.result).output).toEqual({ files: 1 });
  expect(agent.context.logs.map(({ message }) => message)).toEqual([
    'Could not remove the folders of the agent. Remove them by hand.',
  ]);
});

test('DEFAULT_TIMEOUT is the timeout of a step that names none, and a job that allows less is told of', async () => {
  const env = { DEFAULT_TIMEOUT: '1000' };
  const agent = await start([calls('Bash', { command: 'sleep 300' }).always()], {}, { env, timeoutMs: 2_999 });
  expect(await agent.failure()).toMatchObject({ code: 'agent_timeout', details: { timeout_ms: 1_000 } });
  expect(agent.context.logs[0]).toEqual({
    message: 'The timeout of the job is shorter than 3 attempts of its agent.',
    fields: { jobTimeoutMs: 2_999, neededMs: 3_000 },
  });
});
