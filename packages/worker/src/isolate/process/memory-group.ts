import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PREFIX = 'waybill-';

/** Names that a shell keeps in the environment of what it starts. */
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Enters the group before the program begins, so that nothing which it allocates or starts is outside. */
const ENTER = 'echo $$ > "$0/cgroup.procs" || exit 126; exec "$@"';

/** The memory of one run as the kernel counts and limits it: a group of cgroup v2, for all that the run starts. */
export class MemoryGroup {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Null where the kernel, or the rights of this process, have none for us. */
  static make(parent: string, mark: string, memoryBytes: number): MemoryGroup | null {
    const path = join(parent, `${PREFIX}${process.pid}-${mark}`);
    try {
      mkdirSync(path);
    } catch {
      return null;
    }
    const group = new MemoryGroup(path);
    try {
      writeFileSync(join(path, 'memory.max'), String(memoryBytes));
    } catch {
      group.remove();
      return null;
    }
    // Not on every kernel: without them some memory may be swapped out, and one process is ended instead of all.
    group.#write('memory.swap.max', '0');
    group.#write('memory.oom.group', '1');
    return group;
  }

  /** The command that enters the group and becomes this one; null where a shell on the way would change the environment. */
  entering(command: readonly string[], env: Readonly<Record<string, string>>): string[] | null {
    return Object.keys(env).every((name) => PLAIN_NAME.test(name))
      ? ['/bin/sh', '-c', ENTER, this.path, ...command]
      : null;
  }

  /** Brings in a process that could not enter by itself. What it has allocated by then is not counted. */
  add(pid: number): void {
    this.#write('cgroup.procs', String(pid));
  }

  /** Now; null where the kernel does not say. */
  get memoryBytes(): number | null {
    return this.#number('memory.current');
  }

  get peakBytes(): number | null {
    return this.#number('memory.peak');
  }

  /** How many of its processes the kernel has ended because the group was at its limit. */
  get oomKills(): number {
    return Number(/^oom_kill (\d+)$/m.exec(this.#read('memory.events') ?? '')?.[1] ?? 0);
  }

  /** SIGKILL to all that is in it, whatever it has done to hide. */
  kill(): void {
    this.#write('cgroup.kill', '1');
  }

  /** Does nothing while a process is in it. */
  remove(): void {
    try {
      rmdirSync(this.path);
    } catch {
      // The next worker with this parent removes it.
    }
  }

  #write(name: string, text: string): void {
    try {
      writeFileSync(join(this.path, name), text);
    } catch {
      // The file is not there, or the group is gone.
    }
  }

  #read(name: string): string | null {
    try {
      return readFileSync(join(this.path, name), 'latin1');
    } catch {
      return null;
    }
  }

  #number(name: string): number | null {
    const text = this.#read(name)?.trim();
    return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
  }
}

/** The worker whose group it is; null: it is no group of ours. */
export const workerOfGroup = (name: string): number | null => {
  const pid = /^waybill-(\d+)-/.exec(name)?.[1];
  return pid === undefined ? null : Number(pid);
};
