import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Terminal } from '../cli/testing/terminal.ts';
import { appFolder } from './testing/consumer-process.ts';

const QUEUE_URL = { SQS_QUEUE_URL: 'http://127.0.0.1:1/000000000000/tasks' };

test.each([
  [['--preset', 'agent-consumr'], {}, "--preset must be agent-consumer, not 'agent-consumr'. Did you mean"],
  [['--preset', 'agent-consumer'], {}, 'SQS_QUEUE_URL is missing: the preset works on the messages of that queue.'],
  [['--preset', 'agent-consumer'], { ...QUEUE_URL, MAX_MESSAGES: 'many' }, 'MAX_MESSAGES must be a whole number'],
  [['--preset', 'agent-consumer', '--store', 'http://127.0.0.1:1'], QUEUE_URL, 'become jobs of a store'],
  [['--preset', 'agent-consumer', '--exec', '--command', 'true', '--type', 'a.b'], QUEUE_URL, 'runs one task'],
  [['--preset', 'agent-consumer', '--stop-within', '100ms'], QUEUE_URL, '--stop-within must be 2s or longer'],
  [['--env-file', '/no/such/file.env'], {}, '--env-file /no/such/file.env: there is no such file.'],
  [['--env-file', '.'], {}, 'it cannot be read (EISDIR).'],
] as [string[], Record<string, string>, string][])('work %j is wrong usage', async (options, env, message) => {
  const terminal = new Terminal('sqlite::memory:');
  terminal.env = env;
  const { code, err } = await terminal.run('work', '--quiet', ...options);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
});

test.each(['serve', 'dev'])('%s takes --env-file too', async (command) => {
  const file = path.join(appFolder(), 'server.env');
  writeFileSync(file, 'WAYBILL_PORT=somewhere\n');
  onTestFinished(() => void delete process.env['WAYBILL_PORT']);
  const { code, err } = await new Terminal('sqlite::memory:').run(command, '--env-file', file);
  expect([code, err]).toEqual([2, expect.stringContaining("'somewhere'")]);
  expect(process.env['WAYBILL_PORT']).toBe('somewhere');
});

test('variables without effect are told of at the start', async () => {
  const terminal = new Terminal('http://127.0.0.1:1');
  terminal.env = { ...QUEUE_URL, EVENTBRIDGE_BUS_NAME: 'jobs', PROCESSING_TIMEOUT_MS: '1' };
  const { err } = await terminal.run('work', '--preset', 'agent-consumer', '--quiet');
  expect(err).toContain('waybill: No effect yet: EVENTBRIDGE_BUS_NAME. Jobs and events are in the store.\n');
  expect(err).toContain('waybill: No effect: PROCESSING_TIMEOUT_MS.\n');
});
