import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * What happens to the answers of the server. `swallow`: they never come, as behind a dead firewall. `trickle`: a byte in a
 * second. `reset`: the connection is reset behind `resetAfter` bytes of them, when the server has done what it was asked for.
 */
export type Trouble = 'none' | 'swallow' | 'trickle' | 'reset';

const BYTE_EVERY_MS = 1_000;

export interface SlowProxy {
  url: string;
  trouble: Trouble;
  resetAfter: number;
}

/** A network between client and server whose answers get into trouble. What the client sends always arrives. */
export async function startSlowProxy(target: string): Promise<SlowProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  const state: SlowProxy = { url: '', trouble: 'none', resetAfter: 0 };

  // Half open: an end that the client sends is not answered by itself.
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: Number(port), host: hostname, noDelay: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        // A dead firewall tells of no end either.
        if (state.trouble !== 'swallow') to.destroy();
      });
    }
    client.on('data', (bytes) => upstream.write(bytes));
    client.on('end', () => {
      if (state.trouble !== 'swallow') client.end();
    });
    const late: number[] = [];
    let untilReset: number | undefined;
    upstream.on('data', (bytes) => {
      if (state.trouble === 'none' && late.length === 0) client.write(bytes);
      else if (state.trouble === 'reset') {
        untilReset ??= state.resetAfter;
        const some = bytes.subarray(0, untilReset);
        untilReset -= some.length;
        const isOver = untilReset === 0;
        client.write(some, () => {
          if (isOver) client.resetAndDestroy();
        });
      } else if (state.trouble === 'trickle' || late.length > 0) {
        if (late.length === 0) timers.add(trickle(client, late));
        late.push(...bytes);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const timer of timers) clearInterval(timer);
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  state.url = url.href;
  return state;
}

function trickle(client: Socket, late: number[]): NodeJS.Timeout {
  const timer = setInterval(() => {
    const byte = late.shift();
    if (byte !== undefined && !client.destroyed) client.write(Buffer.from([byte]));
    else clearInterval(timer);
  }, BYTE_EVERY_MS);
  return timer;
}
