import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * `pass`: bytes go through. `stall`: bytes wait here and go through later. `lose`: requests go through, and the first
 * bytes of an answer break the connection. `swallow`: bytes are gone, and a connection that has met this stays dead,
 * as behind a router that has forgotten it.
 */
export type LinkMode = 'pass' | 'stall' | 'lose' | 'swallow';

export interface Target {
  host: string;
  port: number;
}

interface Pair {
  client: Socket;
  upstream: Socket;
  isDead: boolean;
}

/** A stretch of network between a process and what it speaks to. */
export class Link {
  readonly port: number;
  readonly #server: ReturnType<typeof createServer>;
  readonly #targetOf: () => Target | undefined;
  readonly #pairs = new Set<Pair>();
  #mode: LinkMode = 'pass';

  /** A target that is not there, such as a server that was killed, refuses connections. */
  static async open(targetOf: () => Target | undefined): Promise<Link> {
    const server = createServer({ noDelay: true, allowHalfOpen: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Link(server, targetOf);
  }

  private constructor(server: ReturnType<typeof createServer>, targetOf: () => Target | undefined) {
    this.#server = server;
    this.#targetOf = targetOf;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => this.#relay(client));
  }

  set mode(mode: LinkMode) {
    this.#mode = mode;
    for (const pair of this.#pairs) {
      if (mode === 'swallow') pair.isDead = true;
      for (const socket of [pair.client, pair.upstream]) {
        if (mode === 'stall') socket.pause();
        else socket.resume();
      }
    }
  }

  /** Both sides are told that the connection is gone. */
  reset(): void {
    for (const pair of this.#pairs) breakOff(pair);
  }

  /** Everything passes again, and connections that are dead are told so at last. */
  heal(): void {
    this.mode = 'pass';
    for (const pair of this.#pairs) if (pair.isDead) breakOff(pair);
  }

  async close(): Promise<void> {
    this.#server.close();
    this.reset();
    await once(this.#server, 'close');
  }

  #relay(client: Socket): void {
    client.on('error', () => {});
    const target = this.#targetOf();
    if (target === undefined) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ ...target, noDelay: true, allowHalfOpen: true });
    const pair: Pair = { client, upstream, isDead: this.#mode === 'swallow' };
    this.#pairs.add(pair);
    upstream.on('error', () => {});
    client.on('data', (bytes) => {
      if (!pair.isDead) upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (pair.isDead) return;
      if (this.#mode === 'lose') breakOff(pair);
      else client.write(bytes);
    });
    // A dead network tells of no end either.
    client.on('end', () => pair.isDead || upstream.end());
    upstream.on('end', () => pair.isDead || client.end());
    client.on('close', () => this.#ended(pair, upstream));
    upstream.on('close', () => this.#ended(pair, client));
    if (this.#mode === 'stall') {
      client.pause();
      upstream.pause();
    }
  }

  #ended(pair: Pair, other: Socket): void {
    if (pair.client.destroyed && pair.upstream.destroyed) this.#pairs.delete(pair);
    if (!pair.isDead) other.destroy();
  }
}

function breakOff({ client, upstream }: Pair): void {
  client.resetAndDestroy();
  upstream.resetAndDestroy();
}
