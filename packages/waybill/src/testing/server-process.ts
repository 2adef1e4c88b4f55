import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../bin/waybill.js', import.meta.url));

/** A real `waybill` process, to be talked to over HTTP and killed. */
export class ServerProcess {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #output: Output;

  private constructor(url: string, child: ChildProcess, output: Output) {
    this.url = url;
    this.#child = child;
    this.#output = output;
  }

  /** Resolves with the ready line's address; rejects with what the process printed when it ends before that. */
  static async start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
    const child = spawn(process.execPath, [BIN, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, WAYBILL_LOG: 'warn', ...env },
    });
    const output = new Output(child);
    const [, url] = await output.waitFor(/^waybill ready on (\S+)/m);
    return new ServerProcess(url!, child, output);
  }

  /** Resolves once the process has printed something like this. */
  async printed(pattern: RegExp): Promise<void> {
    await this.#output.waitFor(pattern);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get output(): string {
    return this.#output.text;
  }

  /** Sends the signal and waits for the end; answers the exit code, null when the signal killed it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return exitCode;
    const ended = once(this.#child, 'exit');
    this.#child.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  }

  async call<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: T }> {
    const response = await fetch(this.url + path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    return { status: response.status, body: (await response.json()) as T };
  }
}

/** Everything that a process has printed so far. */
class Output {
  text = '';
  readonly #child: ChildProcess;
  readonly #changed = new EventTarget();

  constructor(child: ChildProcess) {
    this.#child = child;
    const read = (chunk: Buffer) => {
      this.text += String(chunk);
      this.#changed.dispatchEvent(new Event('changed'));
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
  }

  waitFor(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(this.text);
        if (found) resolve(found);
      };
      this.#changed.addEventListener('changed', look);
      this.#child.once('exit', (code) => reject(new Error(`waybill ended with ${code}: ${this.text}`)));
      look();
    });
  }
}
