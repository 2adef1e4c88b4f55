import { createServer as createHttp2, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Makes a server that is there and of no use. */
type Bad = (track: (socket: Socket) => void) => Server;

const plain =
  (behave: (socket: Socket) => void): Bad =>
  (track) =>
    createServer((socket) => {
      track(socket);
      socket.once('data', () => behave(socket));
      socket.resume();
    });

const http2 =
  (behave: (stream: ServerHttp2Stream, session: ServerHttp2Session) => void): Bad =>
  (track) => {
    const server = createHttp2();
    server.on('session', (session) => {
      session.on('error', () => {});
      track(session.socket as Socket);
    });
    server.on('stream', (stream) => {
      stream.on('error', () => {});
      behave(stream, stream.session as ServerHttp2Session);
    });
    return server;
  };

const HEAD = { ':status': 200, 'content-type': 'application/grpc+proto' };

/** Each of them would keep a client without deadlines for minutes or for ever. */
export const BAD_SERVERS: Record<string, Bad> = {
  'accepts and never answers': plain(() => {}),
  'speaks HTTP/1.1': plain((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')),
  'resets the connection at the first byte': plain((socket) => void socket.resetAndDestroy()),
  'speaks HTTP/2 and never answers': http2(() => {}),
  'sends headers and no message': http2((stream) => stream.respond(HEAD)),
  'sends its message byte by byte': http2((stream) => {
    stream.respond(HEAD);
    // The length of a message of a megabyte, and then its bytes.
    stream.write(new Uint8Array([0, 0, 16, 0, 0]));
    const timer = setInterval(() => stream.write('x'), 20);
    stream.once('close', () => clearInterval(timer));
  }),
  'resets each call': http2((stream) => stream.close(2)),
  'ends each call without a status': http2((stream) => {
    stream.respond(HEAD);
    stream.end();
  }),
  'breaks off in the midst of the answer': http2((stream, session) => {
    stream.respond(HEAD);
    stream.write(new Uint8Array([0, 0, 0, 0, 9, 1]), () => session.destroy());
  }),
  'is another server': http2((stream) => {
    stream.respond({ ':status': 404, 'content-type': 'text/html' });
    stream.end('<html>');
  }),
};

/** Answers its address. */
export async function badServer(make: Bad): Promise<{ url: string; connections(): number }> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = make((socket) => {
    count += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address() as { port: number };
  return { url: `grpc://127.0.0.1:${address.port}`, connections: () => count };
}
