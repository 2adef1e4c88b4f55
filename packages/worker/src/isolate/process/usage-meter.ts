import type { ProcessLimits } from '../contained.ts';
import type { Cause } from './ladder.ts';
import type { MemoryGroup } from './memory-group.ts';
import { type ProcessStat, readPss } from './proc-files.ts';
import type { ProcessTree } from './process-tree.ts';
import { asBytes, asSeconds } from './quantities.ts';
import { usagePoll } from './usage-poll.ts';

/** Memory and CPU time of a tree, looked at every 100 ms, and what happens when they pass their limits. */
export class UsageMeter {
  readonly #tree: ProcessTree;
  readonly #group: MemoryGroup | null;
  readonly #limits: ProcessLimits;
  readonly #onBreach: (cause: Cause) => void;
  readonly #observe = () => this.#look();
  #before = new Map<number, ProcessStat>();
  /** CPU time of processes that have ended and that no living member has counted as that of its child. */
  #endedMs = 0;
  #sharing = false;
  #running = true;
  /** As last seen while anything of the tree was alive. */
  memoryBytes = 0;
  peakMemoryBytes = 0;
  cpuMs = 0;

  /** `group`: where the kernel counts the memory, and keeps its limit. */
  constructor(
    tree: ProcessTree,
    limits: ProcessLimits,
    onBreach: (cause: Cause) => void,
    group: MemoryGroup | null = null,
  ) {
    this.#group = group;
    this.#tree = tree;
    this.#limits = limits;
    this.#onBreach = onBreach;
    usagePoll.add(this.#observe);
  }

  stop(): void {
    this.#running = false;
    this.peakMemoryBytes = Math.max(this.peakMemoryBytes, this.#group?.peakBytes ?? 0);
    usagePoll.remove(this.#observe);
  }

  #look(): void {
    const members = this.#tree.members();
    if (members.every(({ zombie }) => zombie)) return;
    this.#countCpu(members);
    this.#countMemory(members);
  }

  /**
   * A process that ended is in the times of its parent when that one has waited for it. What vanished without that, such
   * as an orphan, is added here, so nothing counts twice.
   */
  #countCpu(members: readonly ProcessStat[]): void {
    const now = new Map(members.map((stat) => [stat.pid, stat]));
    let vanishedMs = 0;
    let inheritedMs = 0;
    for (const [pid, old] of this.#before) {
      const stat = now.get(pid);
      if (stat?.startTicks === old.startTicks) inheritedMs += stat.childrenMs - old.childrenMs;
      else vanishedMs += old.ownMs + old.childrenMs;
    }
    this.#before = now;
    this.#endedMs += Math.max(0, vanishedMs - inheritedMs);
    const livingMs = members.reduce((sum, { ownMs, childrenMs }) => sum + ownMs + childrenMs, 0);
    this.cpuMs = Math.max(this.cpuMs, this.#endedMs + livingMs);
    const limit = this.#limits.cpuMs;
    if (limit !== undefined && this.cpuMs > limit)
      this.#onBreach({
        outcome: 'cpu_limit',
        message: `The program used ${asSeconds(this.cpuMs)} of CPU time. The limit is ${asSeconds(limit)}.`,
      });
  }

  #countMemory(members: readonly ProcessStat[]): void {
    const counted = this.#group?.memoryBytes ?? null;
    if (counted !== null) {
      this.#setMemory(counted);
      return;
    }
    const resident = members.map(({ rssBytes }) => rssBytes);
    const sum = resident.reduce((total, bytes) => total + bytes, 0);
    const limit = this.#limits.memoryBytes;
    if (limit === undefined || sum <= limit || resident.length === 1) this.#setMemory(sum);
    // Forks share pages, which the sum counts once for each of them. One process alone above the limit is clear.
    else if (Math.max(...resident) > limit) this.#setMemory(sum);
    else void this.#countShared(members);
  }

  /** Reading this takes some milliseconds for each process, so the event loop does not wait for it. */
  async #countShared(members: readonly ProcessStat[]): Promise<void> {
    if (this.#sharing) return;
    this.#sharing = true;
    const parts = await Promise.all(members.map(async ({ pid, rssBytes }) => (await readPss(pid)) ?? rssBytes));
    this.#sharing = false;
    if (this.#running) this.#setMemory(parts.reduce((total, bytes) => total + bytes, 0));
  }

  #setMemory(bytes: number): void {
    this.memoryBytes = bytes;
    this.peakMemoryBytes = Math.max(this.peakMemoryBytes, bytes);
    const limit = this.#limits.memoryBytes;
    if (limit !== undefined && bytes > limit)
      this.#onBreach({
        outcome: 'oom',
        message: `The program used ${asBytes(bytes)} of memory. The limit is ${asBytes(limit)}.`,
      });
  }
}
