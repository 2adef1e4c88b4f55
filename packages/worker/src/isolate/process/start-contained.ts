import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { ContainedHooks, ContainedProcess, ContainedProgram, ProcessUsage } from '../contained.ts';
import { groupParent } from './group-parent.ts';
import { type Launch, launchCommand } from './launch-command.ts';
import { MemoryGroup } from './memory-group.ts';
import { RunningProcess } from './running-process.ts';
import { watchdog } from './watchdog.ts';

/** Runs a program in a process tree that cannot hurt the worker. Never throws: what could not start is an outcome. */
export function startContained(program: ContainedProgram, hooks: ContainedHooks): ContainedProcess {
  const group = memoryGroup(program);
  const launch = launchCommand(program, group);
  if ('problem' in launch) {
    group?.remove();
    return notStarted(launch.problem);
  }
  watchdog.holdMark(program.mark);
  const started = trySpawn(launch);
  if (started instanceof Promise) {
    watchdog.release(program.mark, null);
    group?.remove();
    return notStarted(started.then(reasonOf));
  }
  watchdog.holdGroup(started.pid);
  if (!launch.entersGroup) group?.add(started.pid);
  lowerSession(started.pid);
  const running = new RunningProcess(started.child, started.pid, program, hooks, group);
  void running.ended.then(() => watchdog.release(program.mark, started.pid));
  return running;
}

/** Only for a program with a memory limit: all others need none. */
function memoryGroup({ cgroup, mark, limits: { memoryBytes } }: ContainedProgram): MemoryGroup | null {
  const parent = memoryBytes === undefined ? null : groupParent(cgroup);
  return parent === null ? null : MemoryGroup.make(parent, mark, memoryBytes!);
}

/** The error comes at once, such as for too large arguments, or as an event, such as for too many open files. */
function trySpawn({ file, args, options }: Launch): { child: ChildProcess; pid: number } | Promise<unknown> {
  try {
    const child = spawn(file, args, options);
    if (child.pid !== undefined) return { child, pid: child.pid };
    return once(child, 'error').then(([error]) => error);
  } catch (error) {
    return Promise.resolve(error);
  }
}

/** Where the kernel shares the CPU between sessions, `nice` counts only inside of one, and this counts between them. */
function lowerSession(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, '10');
  } catch {
    // The kernel has no such groups, or refuses so many changes a second to a user.
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'E2BIG')
    return 'The arguments and the environment of the program are too large for this system (E2BIG). Pass large input by stdin or a file.';
  return `The program could not be started: ${error instanceof Error ? error.message : String(error)}`;
}

const NOTHING_USED: ProcessUsage = {
  elapsedMs: 0,
  memoryBytes: 0,
  peakMemoryBytes: 0,
  cpuMs: 0,
  outputBytes: 0,
  quietMs: 0,
};

function notStarted(reason: string | Promise<string>): ContainedProcess {
  const ended = Promise.resolve(reason).then((message) => ({
    outcome: 'spawn_failed' as const,
    exitCode: null,
    signal: null,
    usage: NOTHING_USED,
    lastOutput: '',
    message,
  }));
  return {
    pid: null,
    isRunning: false,
    send: () => {},
    end: () => {},
    keepFor: () => {},
    kill: () => {},
    usage: () => NOTHING_USED,
    ended,
  };
}
