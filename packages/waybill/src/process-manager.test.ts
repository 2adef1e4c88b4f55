import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const page = readFileSync(path.join(root, 'docs/command.md'), 'utf8');

/** What the documentation tells a process manager to start, without the folder of the application. */
const started = [
  ...[...page.matchAll(/^ExecStart=(.*)$/gm)].map(([, line]) => line!.split(' ')),
  ...[...page.matchAll(/^CMD (\[.*\])$/gm)].map(([, list]) => JSON.parse(list!) as string[]),
].map(([command = '', ...args]) => [command.replace('/srv/app/', ''), ...args]);

test('F3: the documentation shows how to start a server by systemd and in a container', () => {
  expect(started.map(([command, verb]) => [command, verb])).toEqual([
    ['node_modules/.bin/waybill', 'serve'],
    ['node_modules/.bin/waybill', 'serve'],
  ]);
});

// fault: SIGTERM to the process that the manager has started
test('F3: guarantee 11: SIGTERM to what the documentation starts ends the server, which exits with 0', async () => {
  const [command] = started[0]!;
  const args = ['serve', '--store', 'sqlite::memory:', '--port', '0'];
  const env = { ...process.env, WAYBILL_LOG: 'warn' };
  const child = spawn(path.join(root, command!), args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const [, url] = /^waybill ready on (\S+)/.exec(line.toString())!;
  expect((await fetch(`${url}/ready`)).status).toBe(200);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  await expect(fetch(`${url}/ready`)).rejects.toThrow();
});
