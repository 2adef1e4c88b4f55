import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findProgram } from './find-program.ts';
import { groupParent } from './group-parent.ts';
import { hasCpuLimit, readStat } from './proc-files.ts';

/** Which means of containment work on this machine; for `doctor`, and for those who start processes. */
export interface ContainmentLevel {
  /** Processes end when the worker is killed by SIGKILL. Needs /bin/sh. */
  watchdog: boolean;
  /** Descendants that left the process group are found. Needs /proc. */
  mark: boolean;
  /** How the memory limit is kept: by the kernel, by the worker, which looks every 100 ms, or not at all. */
  memory: 'cgroup' | 'polled' | 'none';
  /** How the CPU limit is kept: the worker looks every 100 ms, with or without a limit of the kernel per process. */
  cpu: 'polled and per process' | 'polled' | 'per process' | 'none';
  /** Processes give way to the worker. Needs nice. */
  nice: boolean;
  /** The kernel ends them before the worker when memory runs out. Needs choom. */
  oomFirst: boolean;
  /** Root gives a process another user for good, with no way back. Needs setpriv; without it, only the user changes. */
  dropPrivileges: boolean;
}

/** Commands that change themselves and then run the program in their place. */
export interface Wrappers {
  nice: string[] | null;
  choom: string[] | null;
  prlimit: ((cpuSeconds: number) => string[]) | null;
  setpriv: ((user: { uid: number; gid: number }) => string[]) | null;
}

let wrappers: Wrappers | undefined;
let level: ContainmentLevel | undefined;

/** Tries each of them once in the life of this process, since a binary that exists may still be forbidden here. */
export function availableWrappers(): Wrappers {
  if (wrappers) return wrappers;
  const find = (name: string) => findProgram(name, process.env['PATH'], '/').file ?? name;
  const nice = [find('nice'), '-n', '10'];
  const choom = [find('choom'), '-n', '800', '--'];
  const prlimitFile = find('prlimit');
  // The soft limit comes first, because SIGXCPU tells the cause and the SIGKILL of the hard limit does not.
  const prlimit = (seconds: number) => [prlimitFile, `--cpu=${seconds}:${seconds + 2}`, '--'];
  const setprivFile = find('setpriv');
  const setpriv = ({ uid, gid }: { uid: number; gid: number }) => [
    ...[setprivFile, '--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups'],
    ...['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--'],
  ];
  wrappers = {
    nice: works(nice) ? nice : null,
    choom: works(choom) ? choom : null,
    prlimit: !hasCpuLimit() && works(prlimit(60)) ? prlimit : null,
    setpriv: process.getuid?.() === 0 && works(setpriv({ uid: 65534, gid: 65534 })) ? setpriv : null,
  };
  return wrappers;
}

export function containmentLevel(): ContainmentLevel {
  if (level) return level;
  const { nice, choom, prlimit, setpriv } = availableWrappers();
  const proc = readStat(process.pid) !== null;
  level = {
    watchdog: existsSync('/bin/sh'),
    mark: proc,
    memory: groupParent() !== null ? 'cgroup' : proc ? 'polled' : 'none',
    cpu: proc ? (prlimit ? 'polled and per process' : 'polled') : prlimit ? 'per process' : 'none',
    nice: nice !== null,
    oomFirst: choom !== null,
    dropPrivileges: setpriv !== null,
  };
  return level;
}

const works = (wrapper: readonly string[]): boolean => {
  const [file, ...args] = wrapper;
  return spawnSync(file!, [...args, 'true'], { stdio: 'ignore' }).status === 0;
};
