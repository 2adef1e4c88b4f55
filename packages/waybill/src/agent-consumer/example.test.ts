import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { COMMANDS } from '../cli/commands/index.ts';
import { loadSomeTasks } from '../cli/load-tasks.ts';
import { agentConsumer } from './preset.ts';

const folder = fileURLToPath(new URL('../../../../examples/agents', import.meta.url));
const text = (file: string): string => readFileSync(path.join(folder, file), 'utf8');

const [app] = (
  createRequire(import.meta.url)(path.join(folder, 'ecosystem.config.cjs')) as { apps: [Record<string, unknown>] }
).apps;

/** What PM2 shall do, setting by setting. */
test.each([
  ['three instances', 'instances', 3],
  ['in cluster mode', 'exec_mode', 'cluster'],
  ['at most 1 GB for each', 'max_memory_restart', '1G'],
  ['started again', 'autorestart', true],
  ['at most ten times', 'max_restarts', 10],
  ['which counts when they lived for less than ten seconds', 'min_uptime', '10s'],
  ['after five seconds', 'restart_delay', 5_000],
  ['killed after five seconds', 'kill_timeout', 5_000],
  ['the worker alone, not the processes of its runs', 'treekill', false],
  ['started anew every day at two', 'cron_restart', '0 2 * * *'],
  ['errors in their file', 'error_file', '.output/logs/err.log'],
  ['output in its file', 'out_file', '.output/logs/out.log'],
  ['both in one file', 'log_file', '.output/logs/combined.log'],
  ['which all instances share', 'merge_logs', true],
])('PM2: %s', (_, setting, value) => {
  expect(app[setting]).toEqual(value);
});

test('PM2 kills later than the preset needs to stop', () => {
  const url = { SQS_QUEUE_URL: 'http://127.0.0.1:1/000000000000/tasks' };
  expect(agentConsumer(url).stopWithinMs).toBeLessThan(app['kill_timeout'] as number);
});

/** The words of each command line, without the program. */
const LINES: Record<string, readonly string[]> = {
  'ecosystem.config.cjs': app['args'] as string[],
  'waybill-agents.service': /^ExecStart=\S+\/waybill (.*)$/m.exec(text('waybill-agents.service'))![1]!.split(' '),
  Dockerfile: (JSON.parse(/^CMD (\[.*\])$/m.exec(text('Dockerfile'))![1]!) as string[]).slice(1),
};

test.each(Object.entries(LINES))(
  '%s starts the preset on the task of the example, by options that exist',
  (_, words) => {
    const [command, ...rest] = words;
    expect([command, ...rest.slice(0, 2)]).toEqual(['work', '--preset', 'agent-consumer']);
    const { options } = COMMANDS.find(({ name }) => name === command)!;
    for (const word of rest.filter((one) => one.startsWith('--')))
      expect(Object.keys(options)).toContain(word.slice(2));
    expect(existsSync(path.join(folder, rest.at(-1)!))).toBe(true);
  },
);

test('the script that PM2 starts is that of the package', () => {
  expect(app['script']).toBe('node_modules/waybill/bin/waybill.js');
});

test('systemd sends SIGTERM to the worker alone, and waits longer than a stop takes', () => {
  const unit = text('waybill-agents.service');
  expect(unit).toMatch(/^KillMode=mixed$/m);
  expect(unit).toMatch(/^User=(?!root)\w+$/m);
  expect(unit).toMatch(/ --stop-within 5m /);
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1])).toBeGreaterThan(5 * 60);
});

test('the container does not run as root, and has an init process and a check', () => {
  const file = text('Dockerfile');
  expect(file.indexOf('USER node')).toBeGreaterThan(0);
  expect(file.indexOf('USER node')).toBeLessThan(file.indexOf('npm install'));
  expect(file).toMatch(/^ENTRYPOINT \["tini", "--"\]$/m);
  expect(file).toMatch(/^HEALTHCHECK .*\["node_modules\/.bin\/waybill", "doctor"\]$/m);
});

test('the task of the example is one task, which the preset isolates', async () => {
  const module = path.join(folder, 'task.mjs');
  const preset = agentConsumer({ SQS_QUEUE_URL: 'http://127.0.0.1:1/000000000000/tasks' });
  const [task] = await preset.tasksOf(await loadSomeTasks(module), module);
  expect(task).toMatchObject({ name: 'text.summarise', runner: 'isolated', policy: { queue: 'agent-tasks' } });
  expect(task!.isolate!.inheritEnv).toContain('ANTHROPIC_*');
  expect(task!.isolate!.env).toMatchObject({ CLAUDE_MODEL: 'claude-opus-4-5', DEFAULT_TIMEOUT: '120000' });
});

test('the packages of the example are those of this repository', () => {
  const { dependencies } = JSON.parse(text('package.json')) as { dependencies: Record<string, string> };
  const agent = JSON.parse(readFileSync(path.join(folder, '../../packages/agent/package.json'), 'utf8'));
  expect(dependencies['@anthropic-ai/claude-agent-sdk']).toBe(agent.peerDependencies['@anthropic-ai/claude-agent-sdk']);
  expect(dependencies['waybill']).toBe(`^${agent.version}`);
});
