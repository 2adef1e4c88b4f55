import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../bin/waybill.js', import.meta.url));

/** A real `waybill` process that is no server, such as a worker. */
export class CommandProcess {
  output = '';
  readonly #child: ChildProcess;
  readonly #changed = new EventTarget();

  private constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    this.#child = spawn(process.execPath, [BIN, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, WAYBILL_LOG: 'warn', ...env },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += String(chunk);
        this.#changed.dispatchEvent(new Event('changed'));
      });
    }
    this.#child.once('exit', () => this.#changed.dispatchEvent(new Event('changed')));
  }

  /** Resolves once it has printed something like this; rejects with what it printed when it ends before. */
  static async start(args: readonly string[], ready: RegExp, env: NodeJS.ProcessEnv = {}): Promise<CommandProcess> {
    const command = new CommandProcess(args, env);
    await command.printed(ready);
    return command;
  }

  async printed(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.output)) {
      if (this.#child.exitCode !== null) throw new Error(`waybill ended with ${this.#child.exitCode}: ${this.output}`);
      await once(this.#changed, 'changed');
    }
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Waits until it has ended by itself; answers the exit code. */
  async ended(): Promise<number | null> {
    while (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#changed, 'changed');
    return this.#child.exitCode;
  }

  /** Sends the signal and waits for the end; answers the exit code, null when the signal killed it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const ended = once(this.#child, 'exit');
    this.#child.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  }
}
