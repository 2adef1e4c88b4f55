import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { ContainedHooks, ContainedProcess, ContainedProgram, ProcessEnd, ProcessLimits } from '../contained.ts';
import { listPids, readMark, readStat } from '../process/proc-files.ts';
import { startContained } from '../process/start-contained.ts';

/** Why tests of processes cannot run here; undefined when they can. */
export const lack = existsSync('/proc/self/stat') ? undefined : 'needs /proc';

export const MB = 1_000_000;

/** Another user than the worker's, where the tests may choose one. */
export const otherUser = process.getuid?.() === 0 ? { user: { uid: 65534, gid: 65534 } } : {};

/** A program that lies beside this file. */
export const fixture = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export type Contained = Partial<Omit<ContainedProgram, 'command' | 'limits'>> & {
  limits?: Partial<ProcessLimits>;
  hooks?: ContainedHooks;
};

export interface Started extends ContainedProcess {
  mark: string;
  /** Its end, once no process of its tree is there any more. Fails when one is. */
  outcome(): Promise<ProcessEnd>;
}

let count = 0;

export function contain(command: readonly [string, ...string[]], given: Contained = {}): Started {
  const { limits, hooks = {}, ...rest } = given;
  count += 1;
  const mark = `test-${process.pid}-${performance.now().toFixed(3)}-${count}`;
  const started = startContained(
    {
      command,
      cwd: '/',
      env: { PATH: process.env['PATH']! },
      mark,
      ...rest,
      // Long enough for any machine: a test that needs a limit sets it.
      limits: { timeoutMs: 110_000, maxOutputBytes: MB, maxLineBytes: MB, killAfterMs: 10_000, ...limits },
    },
    hooks,
  );
  const outcome = async () => {
    const end = await started.ended;
    expect(await livingOf(started.pid, mark), 'processes that outlived their run').toEqual([]);
    return end;
  };
  return Object.assign(started, { mark, outcome });
}

export const sh = (script: string, given?: Contained): Started => contain(['sh', '-c', script], given);

export const node = (script: string, given?: Contained): Started => contain([process.execPath, '-e', script], given);

/** Pids of the group or with the mark, without those that have ended. */
export async function livingOf(group: number | null, mark: string): Promise<number[]> {
  const belongs = async (pid: number): Promise<boolean> => {
    const stat = readStat(pid);
    if (stat === null || stat.zombie) return false;
    return stat.group === group || stat.session === group || (await readMark(pid)) === mark;
  };
  const pids = listPids()!;
  const theirs = await Promise.all(pids.map(belongs));
  return pids.filter((_, index) => theirs[index]);
}

/** What a program wrote to stdout, once it wrote a whole line. */
export function firstLine(): { hooks: ContainedHooks; line: Promise<string> } {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = '';
  const onOutput = (chunk: Buffer) => {
    text += chunk.toString();
    if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
  };
  return { hooks: { onOutput }, line: promise };
}
