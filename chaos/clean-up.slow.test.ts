import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

/** Processes that have this text in their command line; null where nothing tells. */
function processesWith(text: string): string[] | null {
  if (process.platform !== 'linux') return null;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return ''; // It has just ended.
      }
    })
    .filter((line) => line.includes(text));
}

test.each([
  ['SIGINT', 130, null],
  ['SIGKILL', null, 'SIGKILL'],
] as const)(
  'a run that is ended by %s leaves no process and no folder behind',
  { timeout: 120_000 },
  async (signal, ...end) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'waybill-clean-up-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const run = spawn(process.execPath, [MAIN, '--store', 'sqlite', '--minutes', '5', '--seed', 's7'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, TMPDIR: folder },
    });
    // By the first fault all processes are up; with this seed it stops one of them.
    for await (const line of createInterface({ input: run.stderr })) if (line.includes('long-pause')) break;
    expect(readdirSync(folder)).toHaveLength(1);
    expect(processesWith(folder)?.length ?? 9).toBeGreaterThanOrEqual(7);
    run.stderr.resume();
    // The guard has the same stderr, so this is closed when it has done its work.
    const [closed, exited] = [once(run, 'close'), once(run, 'exit')];
    run.kill(signal);
    expect(await exited).toEqual(end);
    await closed;
    expect(readdirSync(folder)).toEqual([]);
    await expect.poll(() => processesWith(folder) ?? []).toEqual([]);
  },
);
