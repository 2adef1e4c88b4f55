import { readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { workerOfGroup } from './memory-group.ts';

const ROOT = '/sys/fs/cgroup';
const SELF = '/proc/self/cgroup';

export interface GroupParents {
  /** Where cgroup v2 is mounted. */
  root?: string;
  /** The file that tells the group of this process. */
  self?: string;
}

/** By the folder that was given; undefined: none was. */
const known = new Map<string | undefined, string | null>();

/**
 * The folder below which runs may have groups of cgroup v2 with a memory limit; null where there is none. It is looked for once:
 * `given`, or the group above that of the worker where the service manager has left it to the worker.
 */
export function groupParent(given?: string | false): string | null {
  if (given === false) return null;
  let parent = known.get(given);
  if (parent === undefined) {
    parent = given === undefined ? findGroupParent() : isUsable(given) ? given : null;
    known.set(given, parent);
  }
  return parent;
}

/**
 * The kernel gives limits to no group that has processes itself, so the worker must be in a group beside those of its runs. A slice,
 * and the root, belong to the service manager.
 */
export function findGroupParent({ root = ROOT, self = SELF }: GroupParents = {}): string | null {
  const own = /^0::(\/.+)$/m.exec(read(self) ?? '')?.[1];
  if (own === undefined) return null;
  const parent = dirname(own);
  if (parent === '/' || basename(parent).endsWith('.slice')) return null;
  const path = join(root, parent);
  return isUsable(path) ? path : null;
}

function isUsable(path: string): boolean {
  if (!words(join(path, 'cgroup.controllers')).includes('memory')) return false;
  const subtree = join(path, 'cgroup.subtree_control');
  if (!words(subtree).includes('memory')) {
    try {
      writeFileSync(subtree, '+memory');
    } catch {
      return false;
    }
  }
  removeLeftGroups(path);
  return true;
}

/** Of workers that were killed. */
function removeLeftGroups(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = workerOfGroup(name);
    if (pid === null || isAlive(pid)) continue;
    try {
      rmdirSync(join(parent, name));
    } catch {
      // Processes are in it, which the watchdog of that worker ends.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const words = (file: string): string[] => (read(file) ?? '').split(/\s+/);

function read(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}
