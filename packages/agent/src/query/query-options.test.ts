import { expect, test } from 'vitest';
import { type AgentDefinition, checkDefinition, clampTimeout } from '../agent-definition.ts';
import type { SessionStore } from '../sdk/sdk-types.ts';
import { queryOptions } from './query-options.ts';

const store = {} as SessionStore;

function options(definition: Partial<AgentDefinition> = {}, worker: Record<string, string> = {}, isResumed = false) {
  const checked = checkDefinition({ name: 'agent.test', prompt: 'x', tools: [], ...definition });
  const env = { IS_SANDBOX: '1' };
  const session = { id: 'one', isResumed, store };
  return queryOptions({ checked, worker, env, cwd: '/work', hooks: {}, session, turnsLeft: 30, usdLeft: null });
}

test('what a task does not say is accepting edits, asking nobody, and no settings of others', () => {
  expect(options()).toMatchObject({
    ...{ permissionMode: 'acceptEdits', permissionPrompts: 'none', settingSources: [], strictMcpConfig: true },
    ...{ tools: [], allowedTools: [], cwd: '/work', maxTurns: 30, sessionStoreFlush: 'eager', sessionId: 'one' },
  });
  expect(Object.keys(options())).not.toContain('model');
});

test('variables of the worker take effect, and what the task says comes before them', () => {
  const worker = { CLAUDE_MODEL: 'm1', CLAUDE_CODE_PATH: '/opt/claude', CLAUDE_SKIP_PERMISSIONS: 'true' };
  expect(options({}, worker)).toMatchObject({
    ...{ model: 'm1', pathToClaudeCodeExecutable: '/opt/claude' },
    ...{ permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true },
  });
  expect(options({ model: 'm2', permissionMode: 'plan' }, worker)).toMatchObject({
    model: 'm2',
    permissionMode: 'plan',
  });
  expect(options({}, { CLAUDE_MODEL: 'inherit' })).not.toHaveProperty('model');
});

test('rules of tools are allowed, and offered by their plain names', () => {
  const { tools, allowedTools } = options({ tools: ['Bash(git log:*)', 'Bash(git diff:*)', 'Read', 'mcp__crm__find'] });
  expect(tools).toEqual(['Bash', 'Read']);
  expect(allowedTools).toEqual(['Bash(git log:*)', 'Bash(git diff:*)', 'Read', 'mcp__crm__find']);
});

test('a session that has begun is resumed', () => {
  expect(options({}, {}, true)).toMatchObject({ resume: 'one', sessionStore: store });
  expect(options({}, {}, true)).not.toHaveProperty('sessionId');
});

test('the timeout of a step is between one second and fifteen minutes', () => {
  expect([1, 5_000, 3_600_000].map(clampTimeout)).toEqual([1_000, 5_000, 900_000]);
});
