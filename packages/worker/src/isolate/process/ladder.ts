import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessOutcome } from '../contained.ts';
import type { ProcessTree } from './process-tree.ts';
import { LONGEST_TIMER_MS } from './quantities.ts';

/** Why we ended a program: recorded before any signal is sent, so that no exit code can hide it. */
export interface Cause {
  outcome: ProcessOutcome;
  message: string;
}

const LOOK_AGAIN_MS = 20;

/** The steps by which a tree is ended: SIGTERM, some time, SIGKILL. The first cause stands; a later one may only hurry. */
export class Ladder {
  readonly #tree: ProcessTree;
  readonly #killAfterMs: number;
  #cause: Cause | null = null;
  #finishing = false;
  #terminateAt = Number.POSITIVE_INFINITY;
  #killAt = Number.POSITIVE_INFINITY;
  #terminateTimer: NodeJS.Timeout | undefined;
  #killTimer: NodeJS.Timeout | undefined;

  constructor(tree: ProcessTree, killAfterMs: number) {
    this.#tree = tree;
    this.#killAfterMs = killAfterMs;
  }

  get cause(): Cause | null {
    return this.#cause;
  }

  /** SIGTERM after `after` milliseconds, SIGKILL when the time for an orderly end is over. */
  end(cause: Cause, after: number): void {
    this.#cause ??= cause;
    const at = performance.now() + after;
    if (this.#finishing || at >= this.#terminateAt) return;
    this.#terminateAt = at;
    clearTimeout(this.#terminateTimer);
    if (after <= 0) this.#terminate();
    else this.#terminateTimer = setTimeout(() => this.#terminate(), Math.min(after, LONGEST_TIMER_MS));
  }

  /** SIGKILL at once. */
  kill(cause: Cause): void {
    this.#cause ??= cause;
    if (this.#killAt === 0) return;
    this.#terminateAt = 0;
    this.#killAt = 0;
    this.#clear();
    if (!this.#finishing) void this.#tree.signal('SIGKILL');
  }

  /**
   * The first process has ended. Those that got SIGTERM keep their time, so that a shell that ends at once does not take
   * it from its children. Then nothing is left alive.
   * @returns the pids that could not be ended
   */
  async finish(): Promise<number[]> {
    this.#finishing = true;
    this.#clear();
    if (this.#killAt !== Number.POSITIVE_INFINITY) {
      while (performance.now() < this.#killAt && (await this.#tree.signal()).pids.length > 0)
        await delay(LOOK_AGAIN_MS);
    }
    return this.#tree.sweep();
  }

  #terminate(): void {
    this.#killAt = performance.now() + this.#killAfterMs;
    const after = Math.min(this.#killAfterMs, LONGEST_TIMER_MS);
    this.#killTimer = setTimeout(() => void this.#tree.signal('SIGKILL'), after);
    // A stopped process gets SIGTERM only when it goes on.
    void this.#tree.signal('SIGTERM', 'SIGCONT');
  }

  #clear(): void {
    clearTimeout(this.#terminateTimer);
    clearTimeout(this.#killTimer);
  }
}
