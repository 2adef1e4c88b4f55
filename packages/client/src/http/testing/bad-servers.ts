import { createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** What a server does with each connection once something was asked. The head is one that the client takes for good. */
export type Behaviour = (socket: Socket, head: string) => void;

function headFor(asked: string): string {
  const type = /^accept: (\S+)/im.exec(asked)?.[1] ?? '';
  return `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: 1000000\r\n\r\n`;
}

const drip = (socket: Socket, text: string): void => {
  let sent = 0;
  const timer = setInterval(() => socket.write(text[sent++ % text.length]!), 20);
  socket.once('close', () => clearInterval(timer));
};

/** Servers that are there and of no use. Each of them would keep a client without deadlines for minutes or for ever. */
export const BAD_SERVERS: Record<string, Behaviour> = {
  'accepts and never answers': () => {},
  'sends its headers byte by byte': (socket, head) => drip(socket, head.slice(0, -4) + 'x'.repeat(10_000)),
  'sends its answer byte by byte': (socket, head) => {
    socket.write(head);
    drip(socket, ' ');
  },
  'resets the connection at the first byte': (socket) => void socket.resetAndDestroy(),
  'resets the connection in the midst of the answer': (socket, head) =>
    void socket.write(`${head}{`, () => socket.resetAndDestroy()),
};

/** Answers its address. */
export async function badServer(behaviour: Behaviour): Promise<{ url: string; connections(): number }> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    socket.once('data', (bytes) => behaviour(socket, headFor(bytes.toString('latin1'))));
    socket.resume();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address() as { port: number };
  return { url: `http://127.0.0.1:${address.port}`, connections: () => count };
}
