import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface CuttingProxy {
  /** As the address that it stands before, with its own port. */
  url: string;
  connections(): number;
  /** Each connection is cut once its server has sent so many bytes, in the midst of them; undefined: never. */
  cutAfter(bytes: (() => number) | undefined): void;
  /** Cuts all connections now. */
  cut(): void;
  /** Takes connections and cuts them at once, or forwards again. */
  down(isDown: boolean): void;
}

/** Stands between a client and a server as a bad network does. */
export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port, protocol } = new URL(target);
  const open = new Set<Socket>();
  let [count, isDown] = [0, false];
  let most: (() => number) | undefined;
  const server = createServer((client) => {
    count += 1;
    if (isDown) return void client.resetAndDestroy();
    const behind = connect(Number(port), hostname);
    let left = most?.() ?? Number.POSITIVE_INFINITY;
    for (const socket of [client, behind]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.once('close', () => {
        open.delete(socket);
        client.destroy();
        behind.destroy();
      });
    }
    client.pipe(behind);
    behind.on('data', (bytes) => {
      client.write(bytes.subarray(0, left));
      left -= bytes.length;
      if (left <= 0) client.destroySoon();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  const address = server.address() as { port: number };
  return {
    url: `${protocol}//127.0.0.1:${address.port}`,
    connections: () => count,
    cutAfter: (bytes) => {
      most = bytes;
    },
    cut,
    down: (down) => {
      isDown = down;
      if (down) cut();
    },
  };
}
