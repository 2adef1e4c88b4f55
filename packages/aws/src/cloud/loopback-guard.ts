import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Node tells here of every connection that a server of this process has accepted, before the server itself hears of it. */
const ACCEPTED = 'net.server.socket';

/**
 * Ends connections to a port of this process that do not come over loopback. For servers that listen on all interfaces
 * and cannot be told otherwise.
 */
export class LoopbackGuard {
  readonly #ports = new Set<number>();
  readonly #look = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    if (this.#ports.has(socket.localPort ?? 0) && !isLoopback(socket.localAddress)) socket.destroy();
  };

  constructor() {
    subscribe(ACCEPTED, this.#look);
  }

  add(port: number): void {
    this.#ports.add(port);
  }

  async stop(): Promise<void> {
    unsubscribe(ACCEPTED, this.#look);
  }
}

/** Where a connection arrives says it best: no other machine can send to these addresses. */
const isLoopback = (address = ''): boolean => address === '::1' || /^(::ffff:)?127\./.test(address);
