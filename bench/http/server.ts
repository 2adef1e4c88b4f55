import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { fileAt, scriptAt } from '../paths.ts';

/** A server in a process of its own, and sixty-four connections to it. */
export class BenchServer {
  readonly #child: ChildProcess;
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.#port = port;
  }

  static async waybill(store: string): Promise<BenchServer> {
    const bin = fileAt('packages/waybill/bin/waybill.js');
    return BenchServer.#start([bin, 'serve', '--store', store, '--port', '0']);
  }

  static async bare(): Promise<BenchServer> {
    return BenchServer.#start([scriptAt('http/bare-server')]);
  }

  static async #start(args: string[]): Promise<BenchServer> {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const chunk of child.stdout) {
      const ready = /ready on http:\/\/127\.0\.0\.1:(\d+)/.exec(String(chunk));
      if (ready) return new BenchServer(child, Number(ready[1]));
    }
    throw new Error('The server ended before it was ready.');
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  post<T>(path: string, body: unknown): Promise<T> {
    const text = JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    return new Promise((resolve, reject) => {
      const call = request(
        { host: '127.0.0.1', port: this.#port, path, method: 'POST', agent: this.#agent, headers },
        (answer) => {
          let received = '';
          answer.setEncoding('utf8');
          answer.on('data', (chunk) => {
            received += chunk;
          });
          answer.on('end', () =>
            answer.statusCode! < 300 ? resolve(JSON.parse(received)) : reject(new Error(received)),
          );
        },
      );
      call.on('error', reject);
      call.end(text);
    });
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}
