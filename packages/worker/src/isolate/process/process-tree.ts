import { setTimeout as delay } from 'node:timers/promises';
import { containmentLevel } from './containment-level.ts';
import type { MemoryGroup } from './memory-group.ts';
import type { ProcessStat } from './proc-files.ts';
import { processTable, type TreeKey } from './process-table.ts';

/** After this long, a process that SIGKILL did not end is left alone: it hangs in the kernel, or another user owns it. */
const SWEEP_MS = 10_000;
/** On a machine where processes come and go all the time, no scan sees everything. */
const UNCLEAR_SCANS = 5;

/** What has not ended yet, and whether the scan could see all. */
interface Left {
  pids: number[];
  sawAll: boolean;
}

/** All processes of one run, with the ways to end them. */
export class ProcessTree implements TreeKey {
  readonly mark: string;
  readonly group: number;
  readonly #memory: MemoryGroup | null;

  /**
   * @param group the pid of its first process, which leads a group and a session of its own
   * @param memory what the kernel kills all of at once, where there is one
   */
  constructor(mark: string, group: number, memory: MemoryGroup | null = null) {
    this.mark = mark;
    this.group = group;
    this.#memory = memory;
    processTable.add(this);
  }

  /** As the last scan saw them. */
  members(): ProcessStat[] {
    return processTable.members(this);
  }

  /** Sends the signals to the group and to all that is known of the tree at once, and then to what a scan finds. */
  async signal(...signals: readonly NodeJS.Signals[]): Promise<Left> {
    for (const signal of signals) send(-this.group, signal);
    if (signals.includes('SIGKILL')) this.#memory?.kill();
    if (!containmentLevel().mark) return { pids: send(-this.group, 0) ? [this.group] : [], sawAll: true };
    const reached = new Set<number>();
    const signalOthers = () => {
      for (const { pid, group } of this.#living()) {
        if (group === this.group || reached.has(pid)) continue;
        reached.add(pid);
        for (const signal of signals) send(pid, signal);
      }
    };
    processTable.look();
    signalOthers();
    const sawAll = await processTable.scan();
    signalOthers();
    return { pids: this.#living().map(({ pid }) => pid), sawAll };
  }

  /** Kills until nothing is left. @returns the pids that could not be ended */
  async sweep(): Promise<number[]> {
    const giveUpAt = performance.now() + SWEEP_MS;
    let unclear = 0;
    for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
      const { pids, sawAll } = await this.signal('SIGKILL');
      if (!sawAll) unclear += 1;
      if (pids.length === 0 && (sawAll || unclear > UNCLEAR_SCANS)) return [];
      if (performance.now() > giveUpAt) return pids;
      await delay(pause);
    }
  }

  #living(): ProcessStat[] {
    return this.members().filter(({ zombie }) => !zombie);
  }

  /** The tree is not looked at any more. */
  forget(): void {
    processTable.remove(this);
  }
}

/** False when there is no such process or group any more, or when it belongs to another user. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    return false;
  }
}
