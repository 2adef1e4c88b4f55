import { expect, test } from 'vitest';
import { agentTask } from '../agent-task.ts';
import { approvalRules } from './people-options.ts';

const isAsked = (rule: string, tool: string, input: unknown = {}): boolean => approvalRules([rule])[0]!(tool, input);

test('a rule names a tool, all tools of a server, or a command wherever it stands', () => {
  expect(isAsked('Write', 'Write')).toBe(true);
  expect(isAsked('Write', 'WriteAll')).toBe(false);
  expect(isAsked('mcp__crm', 'mcp__crm__delete')).toBe(true);
  expect(isAsked('mcp__crm', 'mcp__crmx__delete')).toBe(false);
  const rm = (command: string): boolean => isAsked('Bash(rm:*)', 'Bash', { command });
  for (const command of [
    'rm x',
    'cd a && rm -rf b',
    'sudo rm x',
    '/bin/rm x',
    'echo $(rm x)',
    'ls|xargs rm',
    'a;rm x',
    '`rm x`',
  ])
    expect(rm(command), command).toBe(true);
  for (const command of ['ls', 'npm run rmdir', 'rmdir x', 'echo alarm', 'form x', 'x.rm'])
    expect(rm(command), command).toBe(false);
  expect(isAsked('Bash(git push:*)', 'Bash', { command: 'git   push --force' })).toBe(true);
  expect(isAsked('Bash(git push:*)', 'Bash', { command: 'git pull' })).toBe(false);
  expect(isAsked('Bash(rm:*)', 'Read', { command: 'rm' })).toBe(false);
  expect(isAsked('Bash(rm:*)', 'Bash', null)).toBe(false);
});

const wrong: [string, object, string][] = [
  ['a list of tools', { approve: 'Bash' }, "'approve' must be a list"],
  ['tools that are offered', { approve: ['Write'] }, "'tools' does not offer 'Write'"],
  ['names', { approve: ['Bash(rm'] }, 'which is not the name of a tool'],
  ['commands for Bash alone', { tools: ['Write'], approve: ['Write(src/*)'] }, "Use 'Write' for all of its calls"],
  ['known options', { askHuman: { descripton: 'x' } }, "Did you mean 'description'?"],
  ['a description', { askHuman: { description: ' ' } }, "'askHuman.description' must be a text"],
];

test.each(wrong)('agentTask() takes %s', (_, options, message) => {
  const define = (): unknown => agentTask({ name: 'a.b', prompt: 'x', tools: ['Bash'], ...options } as never);
  expect(define).toThrow(message);
});
