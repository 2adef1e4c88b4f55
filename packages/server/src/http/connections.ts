import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Knows which connections have a request under way. Node's own `closeIdleConnections` takes one that has never sent
 * anything for a busy one, and clients like to keep such spare ones: closing would wait until they give them up.
 */
export class Connections {
  /** Requests under way. */
  readonly #requests = new Map<Socket, number>();
  #isClosing = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#requests.set(socket, 0);
      socket.once('close', () => this.#requests.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      this.#count(socket, 1);
      response.once('close', () => this.#count(socket, -1));
    });
  }

  /** Ends those that are idle now, and the others as soon as they are. */
  closeWhenIdle(): void {
    this.#isClosing = true;
    for (const [socket, requests] of this.#requests) if (requests === 0) socket.destroy();
  }

  #count(socket: Socket, change: number): void {
    const requests = this.#requests.get(socket);
    // Already closed.
    if (requests === undefined) return;
    this.#requests.set(socket, requests + change);
    // What was written last must still reach the client.
    if (this.#isClosing && requests + change === 0) socket.destroySoon();
  }
}
