import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { onTestFinished } from 'vitest';

/**
 * A stand-in for a pooler in transaction mode: every client has a server connection only for as long as a transaction
 * lasts, and whatever a session remembers is lost in between. It lets in whoever comes, and drops notifications.
 */
export interface Pooler {
  readonly url: string;
  /** How many clients have come. */
  readonly clients: number;
  /** How often a server connection was handed to another client than the one before. */
  readonly handovers: number;
}

const SSL_REQUEST = 80_877_103;
const [QUERY, SYNC, TERMINATE, NOTIFICATION, READY] = ['Q', 'S', 'X', 'A', 'Z'].map((type) => type.charCodeAt(0));
const IDLE = 'I'.charCodeAt(0);

/** Cuts a stream of bytes into the protocol's messages: a type, a length, a body. */
function messages(onMessage: (message: Buffer) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = rest.readInt32BE(1) + 1;
      const message = rest.subarray(0, end);
      rest = rest.subarray(end);
      onMessage(message);
    }
  };
}

interface Backend {
  socket: Socket;
  client: Socket | null;
  lastClient: Socket | null;
  pid: number;
}

/** `pg` does the login, then the bare socket is taken from it. */
async function openBackend(target: string): Promise<Backend> {
  const login = new pg.Client(target);
  await login.connect();
  const { connection, processID } = login as unknown as { connection: { stream: Socket }; processID: number };
  const { stream: socket } = connection;
  socket.removeAllListeners();
  socket.on('error', () => {});
  return { socket, client: null, lastClient: null, pid: processID };
}

/** What a client is told instead of being asked for a password. */
function welcome(pid: number): Buffer {
  const key = Buffer.from([0x4b, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 1]);
  key.writeInt32BE(pid, 5);
  return Buffer.concat([Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]), key, Buffer.from([READY!, 0, 0, 0, 5, IDLE])]);
}

interface PoolerOptions {
  /** Tells its clients which process of the server they had first, which no pooler of the field does. */
  isIndiscreet?: boolean;
}

export async function startPooler(target: string, size: number, options: PoolerOptions = {}): Promise<Pooler> {
  const backends = await Promise.all(Array.from({ length: size }, () => openBackend(target)));
  const greeting = welcome(options.isIndiscreet ? backends[0]!.pid : 1);
  const sockets = new Set<Socket>();
  const waiting: { client: Socket; request: Buffer[] }[] = [];
  let handovers = 0;
  let clients = 0;

  const serve = (backend: Backend, client: Socket, request: Buffer[]) => {
    if (backend.lastClient !== null && backend.lastClient !== client) handovers++;
    backend.client = client;
    backend.lastClient = client;
    backend.socket.write(Buffer.concat(request));
  };
  for (const backend of backends) {
    backend.socket.on(
      'data',
      messages((message) => {
        if (message[0] !== NOTIFICATION) backend.client?.write(message);
        if (message[0] !== READY || message[5] !== IDLE) return;
        backend.client = null;
        const next = waiting.shift();
        if (next) serve(backend, next.client, next.request);
      }),
    );
  }

  const server = createServer({ noDelay: true }, (client) => {
    clients++;
    sockets.add(client);
    client.on('error', () => {});
    let request: Buffer[] = [];
    const onMessage = messages((message) => {
      if (message[0] === TERMINATE) return client.end();
      request.push(message);
      if (message[0] !== QUERY && message[0] !== SYNC) return;
      const backend = backends.find((one) => one.client === client) ?? backends.find((one) => one.client === null);
      if (backend) serve(backend, client, request);
      else waiting.push({ client, request });
      request = [];
    });
    const onStartup = (bytes: Buffer) => {
      if (bytes.readInt32BE(4) === SSL_REQUEST) return client.write('N');
      client.off('data', onStartup).on('data', onMessage).write(greeting);
    };
    client.on('data', onStartup);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of [...sockets, ...backends.map((backend) => backend.socket)]) socket.destroy();
    server.close();
  });
  return {
    url: `postgres://anybody:nothing@127.0.0.1:${(server.address() as AddressInfo).port}/any`,
    get clients() {
      return clients;
    },
    get handovers() {
      return handovers;
    },
  };
}
