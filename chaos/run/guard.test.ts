import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { scriptAt } from '../paths.ts';
import { Guard } from './guard.ts';

const endless = () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });

const folderWithFile = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-guard-'));
  writeFileSync(path.join(folder, 'file'), 'x');
  return folder;
};

it('the guard ends what is left, also what is stopped, and removes folders', async () => {
  const guard = new Guard();
  const [running, stopped, ended] = [endless(), endless(), endless()];
  for (const child of [running, stopped, ended]) guard.watch(child);
  stopped.kill('SIGSTOP');
  const endings = [running, stopped].map((child) => once(child, 'exit'));
  const early = once(ended, 'exit');
  ended.kill('SIGTERM');
  await early;
  const [folder, kept] = [folderWithFile(), folderWithFile()];
  for (const path of [folder, kept]) guard.remove(path);
  guard.keep(kept);
  await guard.close();
  expect(await Promise.all(endings)).toEqual([
    [null, 'SIGKILL'],
    [null, 'SIGKILL'],
  ]);
  expect([existsSync(folder), existsSync(kept)]).toEqual([false, true]);
  rmSync(kept, { recursive: true });
});

it('the guard does the same when the run is killed', async () => {
  const folder = folderWithFile();
  const script = `
    import { spawn } from 'node:child_process';
    import { Guard } from ${JSON.stringify(scriptAt('run/guard'))};
    const guard = new Guard();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit', detached: true });
    guard.watch(child);
    guard.remove(${JSON.stringify(folder)});
    console.log('started');
  `;
  const run = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(run.stdout!, 'data');
  run.kill('SIGKILL');
  // The child and the guard hold the pipe, too: it is closed when all three have ended.
  await once(run, 'close');
  expect(existsSync(folder)).toBe(false);
});
