import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A client that sends exactly the bytes that it is told to. */
export class RawClient {
  readonly socket: Socket;
  /** Resolves when the connection is over, whoever ended it. */
  readonly closed: Promise<void>;
  #received = '';
  #changed = Promise.withResolvers<void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', () => resolve());
    });
    // A reset is one of the ways to end, and tells no more than `closed`.
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      this.#received += bytes.toString('latin1');
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    });
  }

  static async connect(url: string): Promise<RawClient> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new RawClient(socket);
  }

  get received(): string {
    return this.#received;
  }

  /** The statuses of all answers so far. */
  get statuses(): number[] {
    return [...this.#received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  }

  /** Resolves once something has come that matches, rejects when the connection ends before. */
  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.#received)) {
      const next = this.#changed.promise;
      const isOver = await Promise.race([next.then(() => false), this.closed.then(() => true)]);
      if (isOver && !pattern.test(this.#received)) throw new Error(`Closed after: ${this.#received.slice(0, 500)}`);
    }
  }

  send(text: string): void {
    this.socket.write(text);
  }

  /** Sends the text again and again until the connection is over. */
  drip(text: string, everyMs: number): void {
    const timer = setInterval(() => this.send(text), everyMs);
    void this.closed.then(() => clearInterval(timer));
  }

  /** As fast as the server takes it, until the connection is over. Answers how many bytes it took. */
  async flood(text: string): Promise<number> {
    while (!this.socket.destroyed) {
      if (this.socket.write(text)) continue;
      await Promise.race([new Promise((resolve) => this.socket.once('drain', resolve)), this.closed]);
    }
    return this.socket.bytesWritten;
  }
}

/** A request as it goes over the wire. */
export function rawRequest(method: string, path: string, body?: object): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const described =
    body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${described}\r\n${text}`;
}
