import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { scriptAt } from '../paths.ts';

export type GuardOrder =
  | { do: 'watch'; pid: number }
  | { do: 'forget'; pid: number }
  | { do: 'unmount'; path: string }
  | { do: 'remove'; path: string }
  | { do: 'keep'; path: string };

/**
 * A process that ends what a run has started and removes what it has made, also when the run is killed. In a process
 * group of its own, so that Ctrl-C does not reach it. The normal end goes the same way.
 */
export class Guard {
  readonly #process: ChildProcess = spawn(process.execPath, [scriptAt('run/guard-entry')], {
    stdio: ['pipe', 'inherit', 'inherit'],
    detached: true,
  });

  /** Kills the child at the end, unless it has ended before. */
  watch(child: ChildProcess): void {
    const { pid } = child;
    if (pid === undefined) return;
    this.#order({ do: 'watch', pid });
    child.once('exit', () => this.#order({ do: 'forget', pid }));
  }

  unmount(path: string): void {
    this.#order({ do: 'unmount', path });
  }

  remove(path: string): void {
    this.#order({ do: 'remove', path });
  }

  /** Not to be removed after all. */
  keep(path: string): void {
    this.#order({ do: 'keep', path });
  }

  /** Resolves when everything is gone. */
  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.stdin!.end();
    await ended;
  }

  #order(order: GuardOrder): void {
    if (this.#process.stdin!.writable) this.#process.stdin!.write(`${JSON.stringify(order)}\n`);
  }
}
