import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { killMarked } from './marked-processes.ts';
import type { SpawnedProcess, SpawnOptions } from './sdk-types.ts';

/** Of stderr, as much as an error tells. */
const TAIL = 4_000;

export interface CliEnd {
  /** Null where a signal ended it, or where it could not be started. */
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** In the environment of the CLI and of all that it starts, so that what outlives it is found. */
export const MARK = 'WAYBILL_AGENT_RUN';

/** Between SIGTERM and SIGKILL. */
const KILL_AFTER_MS = 5_000;

/**
 * The process of the CLI, which this process owns: it is ended with SIGTERM and SIGKILL, nothing that it started is left,
 * and it ends when this process does.
 */
export class CliProcess {
  readonly mark = randomUUID();
  readonly #killAfterMs: number;
  readonly #ended = Promise.withResolvers<CliEnd>();
  #child: ChildProcess | undefined;
  #stderr = '';
  #isEnding = false;

  constructor(killAfterMs: number = KILL_AFTER_MS) {
    this.#killAfterMs = killAfterMs;
  }

  /** The option `spawnClaudeCodeProcess` of the SDK. */
  readonly spawn = ({ command, args, cwd, env, signal }: SpawnOptions): SpawnedProcess => {
    const [program, ...rest] = withParent(command, args, env['PATH']);
    const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(program, rest, {
      ...(cwd !== undefined && { cwd }),
      env: { ...env, [MARK]: this.mark },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    living.add(child);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-TAIL);
    });
    // The CLI may have gone before its input was written.
    child.stdin.on('error', () => {});
    child.once('error', () => this.#end(child, { code: null, signal: null }));
    child.once('exit', (code, name) => this.#end(child, { code, signal: name }));
    signal.addEventListener('abort', () => void this.terminate(), { once: true });
    return child;
  };

  get stderr(): string {
    return this.#stderr.trim();
  }

  get hasStarted(): boolean {
    return this.#child !== undefined;
  }

  /** Resolves when the CLI has exited. */
  get ended(): Promise<CliEnd> {
    return this.#ended.promise;
  }

  /** SIGTERM, and SIGKILL where that does not help. Resolves when no process is left. */
  async terminate(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    if (!this.#isEnding) {
      this.#isEnding = true;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), this.#killAfterMs);
      void this.ended.then(() => clearTimeout(timer));
    }
    await this.ended;
    await killMarked(MARK, this.mark);
  }

  /** Waits for the CLI to exit by itself, and ends it where it does not in time. No process is left. */
  async close(withinMs: number): Promise<CliEnd | null> {
    if (this.#child === undefined) return null;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, withinMs);
    await Promise.race([this.ended, promise]);
    clearTimeout(timer);
    await this.terminate();
    return await this.ended;
  }

  #end(child: ChildProcess, end: CliEnd): void {
    living.delete(child);
    this.#ended.resolve(end);
  }
}

/** Ended with this process, whatever ends it; a SIGKILL of this process reaches them by `setpriv`. */
const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** On Linux the kernel ends the CLI when this process dies, even by SIGKILL. */
function withParent(command: string, args: string[], path: string | undefined): [string, ...string[]] {
  const setpriv = process.platform === 'linux' ? foundIn(path, 'setpriv') : null;
  return setpriv === null ? [command, ...args] : [setpriv, '--pdeathsig', 'TERM', '--', command, ...args];
}

function foundIn(path: string | undefined, program: string): string | null {
  for (const folder of (path ?? '').split(delimiter)) {
    const file = join(folder, program);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}
