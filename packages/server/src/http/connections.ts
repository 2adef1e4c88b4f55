import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from './limits.ts';
import { noRoom, type Refusal, rawAnswer, refusalOf, tooManyAtOnce } from './refusal.ts';

/** Connections beyond the limit that may wait for their refusal; more of them are closed without a word. */
const MOST_REFUSED = 128;

interface Connection {
  /** Requests under way. */
  requests: number;
  /** That of the newest request. */
  response?: ServerResponse;
  /** There was no room for it: its first request is refused. */
  isRefused: boolean;
}

/**
 * Knows which connections have a request under way, and bounds both. Node's own `closeIdleConnections` takes one that
 * has never sent anything for a busy one, and clients like to keep such spare ones: closing would wait until they give
 * them up.
 */
export class Connections {
  readonly #limits: Required<ConnectionLimits>;
  readonly #all = new Map<Socket, Connection>();
  /** Without a request under way, in the order in which they became so. */
  readonly #idle = new Set<Socket>();
  /** Those of TLS whose client has not agreed on a key yet, by both ends. */
  readonly #handshaking = new Map<string, Socket>();
  readonly #isTls: boolean;
  #refused = 0;
  #isClosing = false;

  constructor(server: Server, limits: Required<ConnectionLimits>, isTls = false) {
    this.#limits = limits;
    this.#isTls = isTls;
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.on('secureConnection', (socket: Socket) => this.#secured(socket));
    // Before the app looks at the request, which may be one too many.
    server.prependListener('request', ({ socket }, response) => this.#begin(socket, response));
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#refuse(error, socket as Socket));
  }

  /** Why the newest request of this connection must not be served; undefined: it may be. */
  refusalFor(socket: Socket): Refusal | undefined {
    const { requests, isRefused } = this.#all.get(socket) ?? GONE;
    if (isRefused) return noRoom(this.#limits.maxConnections);
    return requests > this.#limits.maxPipelined ? tooManyAtOnce(this.#limits.maxPipelined) : undefined;
  }

  /** Ends those that are idle now, and the others as soon as they are. */
  closeWhenIdle(): void {
    this.#isClosing = true;
    for (const [socket, { requests }] of this.#all) if (requests === 0) socket.destroy();
  }

  #add(socket: Socket): void {
    const isFull = this.#all.size - this.#refused >= this.#limits.maxConnections;
    const isRefused = isFull && !this.#endLongestIdle();
    if (isRefused && this.#refused >= MOST_REFUSED) return void socket.destroy();
    this.#all.set(socket, { requests: 0, isRefused });
    if (isRefused) this.#refused += 1;
    else this.#idle.add(socket);
    socket.once('close', () => this.#forget(socket));
    if (!this.#isTls) return;
    const ends = endsOf(socket);
    this.#handshaking.set(ends, socket);
    socket.once('close', () => {
      if (this.#handshaking.get(ends) === socket) this.#handshaking.delete(ends);
    });
  }

  /** With TLS requests come on a socket around the one that was connected: it takes its place. */
  #secured(socket: Socket): void {
    const ends = endsOf(socket);
    const beneath = this.#handshaking.get(ends);
    this.#handshaking.delete(ends);
    const connection = beneath && this.#all.get(beneath);
    // Ended to make room for others.
    if (connection === undefined) return void socket.destroy();
    this.#all.delete(beneath!);
    this.#all.set(socket, connection);
    if (this.#idle.delete(beneath!)) this.#idle.add(socket);
    socket.once('close', () => this.#forget(socket));
  }

  /** A client must expect this of an idle connection at any time. */
  #endLongestIdle(): boolean {
    const [socket] = this.#idle;
    if (socket === undefined) return false;
    socket.destroy();
    this.#forget(socket);
    return true;
  }

  #forget(socket: Socket): void {
    if (this.#all.get(socket)?.isRefused) this.#refused -= 1;
    this.#all.delete(socket);
    this.#idle.delete(socket);
  }

  #begin(socket: Socket, response: ServerResponse): void {
    const connection = this.#all.get(socket);
    // Already closed.
    if (connection === undefined) return;
    connection.requests += 1;
    connection.response = response;
    this.#idle.delete(socket);
    response.once('close', () => this.#end(socket, connection));
  }

  #end(socket: Socket, connection: Connection): void {
    connection.requests -= 1;
    if (connection.requests > 0 || !this.#all.has(socket)) return;
    if (!connection.isRefused) this.#idle.add(socket);
    // What was written last must still reach the client.
    if (this.#isClosing) socket.destroySoon();
  }

  /** What is no request, is late or is too large: said in the same words as every other refusal. */
  #refuse({ code }: NodeJS.ErrnoException, socket: Socket): void {
    // The handshake failed: there is no way to say anything that the client would understand.
    if (!this.#all.has(socket)) return void socket.destroy();
    const { requests, response } = this.#all.get(socket)!;
    // In the midst of another answer these bytes would be taken for a part of it.
    const canTell = requests === 0 || (requests === 1 && response?.headersSent === false);
    if (code === 'ECONNRESET' || !socket.writable || !canTell) return void socket.destroy();
    socket.write(rawAnswer(refusalOf(code)));
    socket.destroySoon();
  }
}

const endsOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;

const GONE: Connection = { requests: 0, isRefused: false };
