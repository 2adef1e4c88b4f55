import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A stretch of network between client and server that a test can break. */
export interface Proxy {
  /** The given address by way of the proxy. */
  readonly url: string;
  /** How many connections have been made through it. */
  readonly connections: number;
  /** From now on nothing gets through, and nobody is told: what a dead firewall or a pulled cable looks like. */
  freeze(): void;
  /** New connections get through again. Those that were frozen stay dead. */
  thaw(): void;
  /**
   * The next time a client sends this text, the server gets it and its answer is lost together with the connection, after
   * `meanwhile` has happened.
   */
  loseAnswerTo(text: string, meanwhile?: () => Promise<unknown>): void;
  /** The next connection is ended by the server in the same breath as it is accepted. */
  endNextConnection(): void;
}

/** What tells a client that it may send statements. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

function goodbye(): Buffer {
  const fields = Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');
  const head = Buffer.from([0x45, 0, 0, 0, 0]);
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let freezes = 0;
  let fatal: string | null = null;
  let meanwhile = async (): Promise<unknown> => undefined;
  let connections = 0;
  let endsNext = false;

  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    connections++;
    const upstream = connect({ port: Number(port), host: hostname, noDelay: true });
    const born = isFrozen ? -1 : freezes;
    const isDead = () => born !== freezes;
    let isCut = false;
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      // A frozen network tells of no end either.
      from.on('end', () => isDead() || from.end());
      from.on('close', () => {
        sockets.delete(from);
        if (!isDead()) to.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (isDead()) return;
      if (fatal !== null && bytes.includes(fatal)) {
        fatal = null;
        isCut = true;
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (isDead()) return;
      // The server has answered, so it is done.
      if (isCut) void meanwhile().finally(() => client.destroy());
      else if (endsNext && bytes.subarray(-READY.length).equals(READY)) {
        endsNext = false;
        client.end(Buffer.concat([bytes, goodbye()]));
      } else client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    get connections() {
      return connections;
    },
    freeze: () => {
      isFrozen = true;
      freezes += 1;
    },
    thaw: () => {
      isFrozen = false;
    },
    endNextConnection: () => {
      endsNext = true;
    },
    loseAnswerTo: (text, happening = async () => undefined) => {
      fatal = text;
      meanwhile = happening;
    },
  };
}
