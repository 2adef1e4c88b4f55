import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

/** What PM2 does in the process of a worker: it listens to its channel, and takes all that is written to stderr. */
const MANAGED = `
process.on('message', () => {});
process.stderr.write = (text, ...more) => process.stdout.write(\`taken: \${text}\`, more.at(-1));
export const one = { name: 'a.b', policy: {}, run: () => 1 };
`;

// fault: the channel of the manager keeps the event loop of the worker alive
test('SIGTERM ends a worker that a process manager holds a channel to, and its log goes to the manager', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-managed-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const module = path.join(folder, 'tasks.mjs');
  writeFileSync(module, MANAGED);
  const args = ['work', module, '--store', 'sqlite::memory:'];
  const env = { ...process.env, WAYBILL_LOG: 'info' };
  const child = spawn(path.join(root, started[0]![0]!), args, { env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  const ready = Promise.withResolvers<void>();
  child.stdout!.on('data', (chunk: Buffer) => {
    output += chunk;
    if (output.includes('waybill works on')) ready.resolve();
  });
  await ready.promise;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(output).toMatch(/^taken: \{.*"The worker has stopped\."\}$/m);
});
