import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../bin/waybill.js', import.meta.url));

/** A real `waybill` process, to be talked to over HTTP and killed. */
export class ServerProcess {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #output: () => string;

  private constructor(url: string, child: ChildProcess, output: () => string) {
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
    let printed = '';
    const url = await new Promise<string>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        printed += String(chunk);
        const ready = /^waybill ready on (\S+)/m.exec(printed);
        if (ready) resolve(ready[1]!);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', (code) => reject(new Error(`waybill ended with ${code}: ${printed}`)));
    });
    return new ServerProcess(url, child, () => printed);
  }

  get output(): string {
    return this.#output();
  }

  /** Sends the signal and waits for the end; answers the exit code, null when the signal killed it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
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
