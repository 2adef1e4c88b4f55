import type { SpawnOptions } from 'node:child_process';
import type { ContainedProgram } from '../contained.ts';
import { availableWrappers } from './containment-level.ts';
import { findProgram, problemOfFolder } from './find-program.ts';
import type { MemoryGroup } from './memory-group.ts';
import { MARK_VARIABLE, markPath } from './proc-files.ts';

export interface Launch {
  file: string;
  args: string[];
  options: SpawnOptions;
  /** Whether it goes into its memory group by itself. */
  entersGroup: boolean;
}

/** What to give to `spawn`, or why the program cannot be started. */
export function launchCommand(
  program: ContainedProgram,
  group: MemoryGroup | null = null,
): Launch | { problem: string } {
  const { command, cwd, env, mark, limits, user } = program;
  // The watchdog passes marks to grep line by line.
  if (!/^[\w.:-]+$/.test(mark)) return { problem: `Invalid mark '${mark}'. Use letters, digits and . : _ - only.` };
  if (user && process.getuid?.() !== 0)
    return { problem: `Only root can start a program as user ${user.uid}. The worker is not root.` };
  const badFolder = problemOfFolder(cwd);
  if (badFolder !== null) return { problem: badFolder };
  const [name, ...args] = command;
  const { file, problem } = findProgram(name, env['PATH'], cwd);
  if (problem !== undefined) return { problem };

  const { nice, choom, prlimit, setpriv } = availableWrappers();
  const chain: string[] = [
    ...(nice ?? []),
    ...(choom ?? []),
    // One second more than the limit: the poll, which counts the whole tree, comes first.
    ...(limits.cpuMs !== undefined && prlimit ? prlimit(Math.ceil(limits.cpuMs / 1000) + 1) : []),
    // The last, because only root may do what it takes away.
    ...(user && setpriv ? setpriv(user) : []),
    ...[file, ...args],
  ];
  const marked = { ...env, [MARK_VARIABLE]: markPath(mark) };
  // Where only the user of the process changes, it has that user from the beginning, who may not enter.
  const entering = user && !setpriv ? null : (group?.entering(chain, marked) ?? null);
  const [first, ...others] = entering ?? chain;
  return {
    file: first!,
    args: others,
    entersGroup: entering !== null,
    options: {
      cwd,
      env: marked,
      // A session and group of its own: signals to the group reach its children, and none reaches the worker.
      detached: true,
      stdio: [program.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', program.channel ? 'pipe' : 'ignore'],
      ...(user && !setpriv ? user : {}),
    },
  };
}
