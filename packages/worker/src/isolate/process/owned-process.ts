import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { Ladder } from './ladder.ts';
import { MARK_VARIABLE, markPath } from './proc-files.ts';
import { ProcessTree } from './process-tree.ts';
import { watchdog } from './watchdog.ts';

export interface OwnedProgram {
  command: string;
  args: readonly string[];
  cwd?: string | undefined;
  /** All of its environment but the mark. */
  env: Readonly<Record<string, string | undefined>>;
  /** As of a contained program. */
  mark: string;
  /** Between SIGTERM and SIGKILL. */
  killAfterMs: number;
}

export interface OwnedEnd {
  /** Null where a signal ended it, or where it could not be started. */
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * A program that another library talks to by its streams. It has no limits; its tree is ended as that of a contained program is,
 * and it ends with this process, however that dies.
 */
export class OwnedProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Resolves when the program has exited; processes of its tree may be left. */
  readonly exited: Promise<OwnedEnd>;
  /** Resolves when no process of the tree is left. */
  readonly ended: Promise<OwnedEnd>;
  readonly #ladder: Ladder | null;

  constructor({ command, args, cwd, env, mark, killAfterMs }: OwnedProgram) {
    watchdog.holdMark(mark);
    this.child = spawn(command, args, {
      ...(cwd !== undefined && { cwd }),
      env: { ...env, [MARK_VARIABLE]: markPath(mark) },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const { pid } = this.child;
    // It may have gone before its input was written.
    this.child.stdin.on('error', () => {});
    const end = Promise.withResolvers<OwnedEnd>();
    this.child.once('exit', (code, signal) => end.resolve({ code, signal }));
    this.child.once('error', () => pid === undefined && end.resolve({ code: null, signal: null }));
    this.exited = end.promise;
    if (pid === undefined) {
      watchdog.release(mark, null);
      [this.#ladder, this.ended] = [null, this.exited];
      return;
    }
    watchdog.holdGroup(pid);
    const tree = new ProcessTree(mark, pid);
    const ladder = new Ladder(tree, killAfterMs);
    this.#ladder = ladder;
    this.ended = this.exited.then(async (last) => {
      await ladder.finish();
      tree.forget();
      watchdog.release(mark, pid);
      return last;
    });
  }

  /** SIGTERM to the whole tree, SIGKILL after `killAfterMs`. */
  terminate(): void {
    this.#ladder?.end({ outcome: 'cancelled', message: 'Its owner has ended the program.' }, 0);
  }

  /** Waits so long for the program to exit by itself, and ends it where it does not. Nothing of it is left then. */
  async close(withinMs: number): Promise<OwnedEnd> {
    const timer = setTimeout(() => this.terminate(), withinMs);
    await this.exited;
    clearTimeout(timer);
    return await this.ended;
  }
}
