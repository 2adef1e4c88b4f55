import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { folder } from './testing/terminal.ts';

const BIN = path.resolve(import.meta.dirname, '../../bin/waybill.js');

/** A module whose timer would keep the process alive for ever. */
function leftOpen(exported: string): string {
  const file = path.join(folder(), 'tasks.mjs');
  writeFileSync(file, `setInterval(() => {}, 1_000);\n${exported}\n`);
  return file;
}

const TASK = "export const one = { name: 'test.one', schema: undefined, policy: {}, run: () => 1 };";

test.each<[string, string[], string, number, string]>([
  ['work without tasks', ['work'], 'export {};', 2, 'exports no tasks'],
  ['dev without tasks', ['dev'], 'export {};', 2, 'exports no tasks'],
  ['work on a queue that no task has', ['work', '--bounds', 'mail=1'], TASK, 2, 'mail'],
  ['work on an address that is none', ['work', '--store', 'redis://jobs.example'], TASK, 2, 'redis'],
])('M6: %s exits, whatever the module holds open', async (_, [command, ...options], exported, code, said) => {
  const args = [BIN, command!, leftOpen(exported), ...options];
  const child = spawn(process.execPath, args, { cwd: folder(), stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [err, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect([exitCode, err]).toEqual([code, expect.stringContaining(said)]);
});
