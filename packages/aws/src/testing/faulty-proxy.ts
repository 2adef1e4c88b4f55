import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * `pass`: bytes go through. `swallow`: connections are accepted, and whatever is sent over any of them is never
 * answered. `stall`: of every answer only the headers and the first byte of the body come. `trickle`: answers come so
 * slowly that their headers are never whole, though the connection is never silent. `drip`: the headers come at once, and
 * the body as slowly. `reset`: each connection is reset behind `resetAfter` bytes of its answers.
 */
type Mode = 'pass' | 'swallow' | 'stall' | 'trickle' | 'drip' | 'reset';

/** A request to be held, by a text in it, or the answer to it. */
interface Hold {
  text: string;
  what: 'request' | 'answer';
  held(letGo: () => void): void;
}

const END_OF_HEADERS = '\r\n\r\n';
/** Between two bytes of an answer that trickles: shorter than any silence that is bounded. */
const TRICKLE_MS = 200;
/** Between two bytes of a body that drips: two of them already take longer than the shortest bound of a test. */
const DRIP_MS = 700;

/**
 * A proxy on loopback in front of an emulator. A connection that has met another mode than `pass` stays dead for good, as
 * behind a router that has forgotten it: only new ones pass again.
 */
export class FaultyProxy {
  mode: Mode = 'pass';
  resetAfter = 1;
  readonly endpoint: string;
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets: Set<Socket>;
  #swallowed = 0;
  #told: (() => void)[] = [];
  #holds: Hold[] = [];

  static async start(target: string): Promise<FaultyProxy> {
    const { hostname, port } = new URL(target);
    const sockets = new Set<Socket>();
    const server = createServer((client) => proxy.#relay(client, connect(Number(port), hostname)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy: FaultyProxy = new FaultyProxy(server, sockets);
    return proxy;
  }

  private constructor(server: ReturnType<typeof createServer>, sockets: Set<Socket>) {
    this.#server = server;
    this.#sockets = sockets;
    this.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Resolves when a request was swallowed; those from before do not count. */
  swallows(): Promise<void> {
    return new Promise((resolve) => this.#told.push(resolve));
  }

  /** Holds the next request that has this text in it, or its answer; resolves when it is held, with what lets it go. */
  hold(what: Hold['what'], text: string): Promise<() => void> {
    return new Promise((held) => this.#holds.push({ what, text, held }));
  }

  /** Requests so far that were swallowed. */
  get swallowed(): number {
    return this.#swallowed;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #relay(client: Socket, target: Socket): void {
    let isDead = false;
    let untilReset: number | undefined;
    for (const socket of [client, target]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        target.destroy();
      });
    }
    client.on('data', (bytes) => {
      isDead ||= this.mode === 'swallow';
      if (isDead) return this.#tell();
      const hold = this.#holdOf(bytes);
      if (hold?.what === 'request') {
        client.pause();
        hold.held(() => {
          target.write(bytes);
          client.resume();
        });
        return;
      }
      target.write(bytes);
      if (!hold) return;
      target.pause();
      hold.held(() => target.resume());
    });
    target.on('data', (bytes) => {
      if (isDead) return;
      if (this.mode === 'pass') client.write(bytes);
      if (this.mode === 'trickle') {
        isDead = true;
        this.#tell();
        trickle(bytes, client);
      }
      if (this.mode === 'reset') {
        untilReset ??= this.resetAfter;
        const some = bytes.subarray(0, untilReset);
        untilReset -= some.length;
        if (untilReset > 0) return void client.write(some);
        isDead = true;
        this.#tell();
        client.write(some, () => client.resetAndDestroy());
      }
      if (this.mode === 'drip') {
        const end = bytes.indexOf(END_OF_HEADERS) + END_OF_HEADERS.length;
        isDead = true;
        this.#tell();
        client.write(bytes.subarray(0, end));
        // Whatever of the body is in other packets never comes.
        trickle(Buffer.concat([bytes.subarray(end), Buffer.alloc(1_000, ' ')]), client, DRIP_MS);
      }
      if (this.mode !== 'stall') return;
      const end = bytes.indexOf(END_OF_HEADERS);
      client.write(end < 0 ? bytes : bytes.subarray(0, end + END_OF_HEADERS.length + 1));
      isDead = end >= 0;
      if (isDead) this.#tell();
    });
  }

  #holdOf(bytes: Buffer): Hold | undefined {
    const found = this.#holds.find(({ text }) => bytes.includes(text));
    this.#holds = this.#holds.filter((hold) => hold !== found);
    return found;
  }

  #tell(): void {
    this.#swallowed += 1;
    for (const tell of this.#told.splice(0)) tell();
  }
}

function trickle(bytes: Buffer, to: Socket, everyMs = TRICKLE_MS): void {
  let sent = 0;
  const timer = setInterval(() => to.write(bytes.subarray(sent, ++sent)), everyMs);
  to.once('close', () => clearInterval(timer));
}

/** The same promise, or a failure when it hangs. */
export function answered<T>(promise: Promise<T>, withinMs: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`There was no answer in ${withinMs} ms: it hangs.`)), withinMs);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}
