import { listPids, markPath, type ProcessStat, pathsAbove, readMark, readStat, UNCLEAR } from './proc-files.ts';

/** How the processes of one run are recognised. */
export interface TreeKey {
  readonly mark: string;
  /** The process group and the session, whose number is the pid of its first process. */
  readonly group: number;
}

interface Known {
  stat: ProcessStat;
  tree: TreeKey | null;
  /** Undefined while it is not read yet. */
  mark?: string | null;
}

/**
 * All processes of the machine, and to which run each belongs: by its group, its session, its parent, or its mark. A
 * process that once belonged to a run stays there, so one that left the group and wiped its environment is still known
 * when it was seen before.
 */
export class ProcessTable {
  readonly #trees = new Set<TreeKey>();
  #known = new Map<number, Known>();
  #running: Promise<unknown> = Promise.resolve();
  #waiting: Promise<boolean> | null = null;

  add(tree: TreeKey): void {
    this.#trees.add(tree);
  }

  remove(tree: TreeKey): void {
    this.#trees.delete(tree);
    for (const known of this.#known.values()) if (known.tree === tree) known.tree = null;
    if (this.#trees.size === 0) this.#known.clear();
  }

  /** Processes of the tree as they were last read; zombies are among them. */
  members(tree: TreeKey): ProcessStat[] {
    return [...this.#known.values()].filter((known) => known.tree === tree).map(({ stat }) => stat);
  }

  /** Reads members and new processes. What only its mark can tell is left to the next scan. */
  look(): void {
    this.#read(false);
  }

  /**
   * Reads all processes, with the marks of those that nothing else attributes. Calls that wait share one scan.
   * @returns false when a process ended or replaced its program during the scan. It may have started another one, which
   * only the next scan can show.
   */
  scan(): Promise<boolean> {
    this.#waiting ??= this.#running.then(() => {
      this.#waiting = null;
      return this.#scan();
    });
    this.#running = this.#waiting;
    return this.#waiting;
  }

  /** The kernel lets a reader of an environment wait for a process that has little CPU time, so no read is synchronous. */
  async #scan(): Promise<boolean> {
    let sawAll = this.#read(true);
    const unread = [...this.#known.values()].filter(
      ({ tree, mark, stat }) => tree === null && stat.hasMemory && (mark === undefined || mark === UNCLEAR),
    );
    await Promise.all(
      unread.map(async (known) => {
        const mark = await readMark(known.stat.pid);
        if (mark === UNCLEAR && known.mark === undefined) sawAll = false;
        known.mark = mark;
      }),
    );
    this.#attribute();
    return sawAll;
  }

  #read(thorough: boolean): boolean {
    const before = this.#known;
    const after = new Map<number, Known>();
    let sawAll = true;
    const pids = listPids();
    // This process has no descriptor left to read them with; what it knew still holds.
    if (pids === null) return false;
    for (const pid of pids) {
      const old = before.get(pid);
      // Another process may have got the pid of one that belonged to no run; this need not be seen at every look.
      if (old && old.tree === null && !thorough) {
        after.set(pid, old);
        continue;
      }
      const stat = readStat(pid);
      if (stat === null) {
        if (old?.tree !== null || old.mark === UNCLEAR) sawAll = false;
      } else if (old && old.stat.startTicks === stat.startTicks) {
        old.stat = stat;
        after.set(pid, old);
      } else {
        if (stat.zombie) sawAll = false;
        after.set(pid, { stat, tree: null });
      }
    }
    this.#known = after;
    this.#attribute();
    return sawAll;
  }

  #attribute(): void {
    const byGroup = new Map<number, TreeKey>();
    const byMark = new Map<string, TreeKey>();
    for (const tree of this.#trees) {
      byMark.set(markPath(tree.mark), tree);
      byGroup.set(tree.group, tree);
    }
    let unclear: Known[] = [];
    for (const known of this.#known.values()) {
      if (known.tree !== null) continue;
      const { group, session } = known.stat;
      known.tree = byGroup.get(group) ?? byGroup.get(session) ?? treeOf(known.mark, byMark) ?? null;
      if (known.tree === null) unclear.push(known);
    }
    // A parent may come later than its child, so this repeats until it finds nothing more.
    for (let before = -1; before !== unclear.length; ) {
      before = unclear.length;
      unclear = unclear.filter((known) => {
        known.tree = this.#known.get(known.stat.parent)?.tree ?? null;
        return known.tree === null;
      });
    }
  }
}

/** What a run of this process has started with runs of its own belongs to it, too. */
function treeOf(path: string | null | undefined, byMark: ReadonlyMap<string, TreeKey>): TreeKey | undefined {
  if (path === null || path === undefined || path === UNCLEAR) return undefined;
  const found = pathsAbove(path).find((one) => byMark.has(one));
  return found === undefined ? undefined : byMark.get(found);
}

/** Shared by all runs of this worker, so that ten runs cost one scan and not ten. */
export const processTable = new ProcessTable();
