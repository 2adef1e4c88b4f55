import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { whileLocked } from './cache-lock.ts';
import { folder, rejection } from './testing/remote.ts';

const signal = new AbortController().signal;
const HOLDER = fileURLToPath(new URL('testing/lock-holder.ts', import.meta.url));

test('works under one lock never overlap', async () => {
  const file = join(folder(), 'lock');
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 8 }, () => whileLocked(file, signal, work)));
  expect(most).toBe(1);
});

test('a process holds it against others, and a killed one no more', async () => {
  const file = join(folder(), 'lock');
  const holder = spawn(process.execPath, [HOLDER, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  const refused = await rejection(whileLocked(file, signal, async () => {}, 0));
  expect(refused).toMatchObject({ code: 'unavailable' });
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  expect(await whileLocked(file, signal, async () => 'mine', 10_000)).toBe('mine');
});

test('a wait ends with its run, and the lock is free after work that fails', async () => {
  const file = join(folder(), 'lock');
  const run = new AbortController();
  const reason = new Error('cancelled');
  await whileLocked(file, signal, async () => {
    const waiting = whileLocked(file, run.signal, async () => {});
    run.abort(reason);
    expect(await rejection(waiting)).toBe(reason);
  });
  expect(await rejection(whileLocked(file, signal, async () => Promise.reject(reason)))).toBe(reason);
  expect(await whileLocked(file, signal, async () => 'free', 0)).toBe('free');
});
