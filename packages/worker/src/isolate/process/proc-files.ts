import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** The variable that marks every process of a run; its value is the path of the run's mark. */
export const MARK_VARIABLE = 'WAYBILL_RUN';

/**
 * The mark of a run that this process starts. Where this process belongs to a run itself, that one's mark stands before it, so
 * that the outer run finds all of the inner one.
 */
export function markPath(mark: string): string {
  const outer = process.env[MARK_VARIABLE];
  return outer ? `${outer}/${mark}` : mark;
}

/** A path and those that it is below, the longest first. */
export function pathsAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_, at) => parts.slice(0, parts.length - at).join('/'));
}

/** One process, as /proc/PID/stat tells. */
export interface ProcessStat {
  pid: number;
  parent: number;
  group: number;
  session: number;
  /** Tells two processes apart that had the same pid one after the other. */
  startTicks: number;
  /** R, S, T and so on, see proc(5). */
  state: string;
  /** It has ended, and its parent has not asked for its exit code yet. */
  zombie: boolean;
  /** Kernel threads and zombies have no memory, and so no environment. */
  hasMemory: boolean;
  rssBytes: number;
  /** CPU time that it used itself. */
  ownMs: number;
  /** CPU time of its children that have ended and that it has waited for. */
  childrenMs: number;
}

/** Page size and clock ticks of this machine, from the vector that the kernel gives every process. */
const { pageBytes, ticksPerSecond } = readAuxiliaryVector();

function readAuxiliaryVector(): { pageBytes: number; ticksPerSecond: number } {
  const PAGE_SIZE = 6n;
  const CLOCK_TICKS = 17n;
  const found = { pageBytes: 4096, ticksPerSecond: 100 };
  if (process.arch === 'arm' || process.arch === 'ia32') return found;
  try {
    const words = new BigUint64Array(new Uint8Array(readFileSync('/proc/self/auxv')).buffer);
    for (let at = 0; at + 1 < words.length; at += 2) {
      if (words[at] === PAGE_SIZE) found.pageBytes = Number(words[at + 1]);
      if (words[at] === CLOCK_TICKS) found.ticksPerSecond = Number(words[at + 1]);
    }
  } catch {
    // No /proc here; then the values are not used.
  }
  return found;
}

/** The pids of all processes that this process can see; null where there is no /proc. */
export function listPids(): number[] | null {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return null;
  }
}

/** Null when the process is gone. */
export function readStat(pid: number): ProcessStat | null {
  const text = readText(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name of the program stands in parentheses and may contain anything, such as ') '.
  const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ');
  const number = (index: number) => Number(fields[index]);
  const milliseconds = (index: number) => (number(index) / ticksPerSecond) * 1000;
  return {
    pid,
    state: fields[0]!,
    zombie: fields[0] === 'Z' || fields[0] === 'X',
    parent: number(1),
    group: number(2),
    session: number(3),
    ownMs: milliseconds(11) + milliseconds(12),
    childrenMs: milliseconds(13) + milliseconds(14),
    startTicks: number(19),
    hasMemory: fields[20] !== '0',
    rssBytes: number(21) * pageBytes,
  };
}

const MARK = new RegExp(`(?:^|\\0)${MARK_VARIABLE}=([^\\0]*)`);

/** The mark of a process that has no environment just now: it ends, or it replaces its program. */
export const UNCLEAR = '';

/** The path of the mark in the environment with which a program was started; null without one, or when we may not read it. */
export async function readMark(pid: number): Promise<string | null> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1');
    return environment === '' ? UNCLEAR : (MARK.exec(environment)?.[1] ?? null);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? null : UNCLEAR;
  }
}

/** Resident memory in which pages that several processes share count once in all; null when we may not read it. */
export async function readPss(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1').catch(() => '');
  const kilobytes = /^Pss: +(\d+) kB$/m.exec(text)?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1024;
}

/** How many processes of this host the kernel has killed for want of memory. */
export const readOomKills = (): number =>
  Number(/^oom_kill (\d+)$/m.exec(readText('/proc/vmstat') ?? '')?.[1] ?? Number.NaN);

/** Whether a CPU limit of the worker itself would stand in the way of the one that its children get. */
export const hasCpuLimit = (): boolean =>
  !/^Max cpu time +unlimited +unlimited/m.test(readText('/proc/self/limits') ?? '');

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}
