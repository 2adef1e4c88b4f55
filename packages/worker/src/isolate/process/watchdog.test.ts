import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { firstLine, fixture, lack, livingOf, sh } from '../testing/contain.ts';
import { listPids, readStat } from './proc-files.ts';
import { watchdog } from './watchdog.ts';

let count = 0;

/** A worker of its own runs the script and is killed when that has written the lines. @returns what is left after a second */
async function killWorkerOf(script: string, lines: number): Promise<{ mark: string; tookMs: number }> {
  count += 1;
  const mark = `test-worker-${process.pid}-${count}`;
  const worker = spawn(process.execPath, [fixture('worker-that-dies.ts'), script, mark], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of worker.stdout!) {
    text += chunk;
    if (text.split('\n').length > lines) break;
  }
  expect((await livingOf(null, mark)).length).toBeGreaterThanOrEqual(lines);
  const killedAt = performance.now();
  worker.kill('SIGKILL');
  await vi.waitFor(async () => expect(await livingOf(null, mark)).toEqual([]), { timeout: 20_000, interval: 5 });
  return { mark, tookMs: performance.now() - killedAt };
}

describe.skipIf(lack)(`when the worker is killed by SIGKILL (skipped: ${lack})`, () => {
  const forever = 'while :; do sleep 0.05; done';

  it.each([
    ['a program that ignores signals', `trap "" TERM HUP INT PIPE; echo 1; ${forever}`, 1],
    ['its children', `(echo 1; ${forever}) & (echo 2; ${forever}) & echo 3; wait`, 3],
    [
      'children that called setsid',
      `setsid sh -c 'echo 1; ${forever}' & setsid sh -c 'echo 2; ${forever}' & echo 3; wait`,
      3,
    ],
    ['orphans that called setsid', `(setsid sh -c 'echo 1; ${forever}' &); echo 2; ${forever}`, 2],
    ['a stopped group', `sh -c 'echo 1; echo 2; kill -STOP 0' & wait; ${forever}`, 2],
  ])('%s end within a second', async (_, script, lines) => {
    const { tookMs } = await killWorkerOf(script, lines);
    expect(tookMs).toBeLessThan(1000);
  });
});

describe.skipIf(lack)(`when the worker stands still (skipped: ${lack})`, () => {
  // fault: the worker is stopped by SIGSTOP, so the pipe to its watchdog stays open
  it('its programs end when it has not kept them for long enough, and it learns why', async () => {
    count += 1;
    const mark = `test-worker-${process.pid}-${count}`;
    const script = `(setsid sh -c 'while :; do sleep 0.05; done' &); trap "" TERM; echo 1; while :; do sleep 0.05; done`;
    const worker = spawn(process.execPath, [fixture('worker-that-dies.ts'), script, mark, '1000'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said = text(worker.stdout!);
    await once(worker.stdout!, 'data');
    worker.kill('SIGSTOP');
    await vi.waitFor(async () => expect(await livingOf(null, mark)).toEqual([]), { timeout: 60_000, interval: 20 });
    worker.kill('SIGCONT');
    expect(await said).toContain('worker_stopped: The worker stood still for too long');
  });

  it('a program that is kept goes on, and leaves no timer behind', async () => {
    const started = sh('sleep 2.5; exit 7');
    // Longer than a beat may be late on a busy machine, and shorter than the program.
    const beats = setInterval(() => started.keepFor(2_000), 100);
    started.keepFor(2_000);
    const end = await started.outcome();
    clearInterval(beats);
    expect(end).toMatchObject({ outcome: 'nonzero', exitCode: 7 });
    const timers = () => listPids()!.filter((pid) => readStat(pid)?.parent === watchdog.pid);
    await vi.waitFor(() => expect(timers()).toEqual([]), { timeout: 20_000, interval: 10 });
  });
});

describe.skipIf(lack)(`a watchdog that fails (skipped: ${lack})`, () => {
  it('is replaced when it is killed, and the run goes on', async () => {
    const { hooks, line } = firstLine();
    const started = sh('echo ready; read x <&3; exit 7', { hooks, channel: true });
    await line;
    const before = watchdog.pid!;
    process.kill(before, 'SIGKILL');
    await vi.waitFor(() => expect(watchdog.pid ?? before).not.toBe(before), { timeout: 20_000, interval: 10 });
    started.send('end');
    expect(await started.outcome()).toMatchObject({ outcome: 'nonzero', exitCode: 7 });
  });

  it('breaks no run when it is stopped', async () => {
    await sh('exit 0').outcome();
    const { pid } = watchdog;
    process.kill(pid!, 'SIGSTOP');
    try {
      await vi.waitFor(() => expect(readStat(pid!)).toMatchObject({ state: 'T' }), { timeout: 20_000, interval: 5 });
      for (let i = 0; i < 5; i += 1)
        expect(await sh('exit 7').outcome()).toMatchObject({ outcome: 'nonzero', exitCode: 7 });
    } finally {
      process.kill(pid!, 'SIGCONT');
    }
  });

  it('ends with its worker, and keeps nothing else alive', async () => {
    const worker = spawn(process.execPath, [fixture('worker-that-dies.ts'), 'exit 0', 'test-short-worker'], {
      stdio: 'ignore',
    });
    expect(await once(worker, 'exit')).toEqual([0, null]);
    expect(await livingOf(null, 'test-short-worker')).toEqual([]);
  });
});
