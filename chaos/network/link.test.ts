import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Link } from './link.ts';

/** A server that answers every text with itself, and says what it was sent. */
async function echo() {
  const heard: string[] = [];
  const told = new EventTarget();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      heard.push(String(bytes));
      told.dispatchEvent(new Event('heard'));
      socket.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { heard, told, port: (server.address() as AddressInfo).port };
}

async function linkTo(port: number): Promise<Link> {
  const link = await Link.open(() => ({ host: '127.0.0.1', port }));
  onTestFinished(() => link.close());
  return link;
}

async function dial(link: Link): Promise<Socket> {
  const socket = connect(link.port, '127.0.0.1');
  await once(socket, 'connect');
  onTestFinished(() => void socket.destroy());
  return socket;
}

async function answerTo(socket: Socket, text: string): Promise<string> {
  const answer = once(socket, 'data');
  socket.write(text);
  return String((await answer)[0]);
}

const brokenOff = async (socket: Socket): Promise<string> =>
  ((await once(socket, 'error')) as [NodeJS.ErrnoException])[0].code!;

describe('a link', () => {
  it('passes bytes, and resets its connections', async () => {
    const link = await linkTo((await echo()).port);
    const socket = await dial(link);
    expect(await answerTo(socket, 'one')).toBe('one');
    const broken = brokenOff(socket);
    link.reset();
    expect(await broken).toBe('ECONNRESET');
    expect(await answerTo(await dial(link), 'two')).toBe('two');
  });

  it('loses the answer to a request that got through', async () => {
    const server = await echo();
    const link = await linkTo(server.port);
    const socket = await dial(link);
    link.mode = 'lose';
    const broken = brokenOff(socket);
    socket.write('settle');
    expect(await broken).toBe('ECONNRESET');
    expect(server.heard).toEqual(['settle']);
  });

  it('holds bytes back and delivers them later', async () => {
    const server = await echo();
    const link = await linkTo(server.port);
    const [stalled, other] = [await dial(link), await dial(await linkTo(server.port))];
    link.mode = 'stall';
    const answer = once(stalled, 'data');
    stalled.write('late');
    expect(await answerTo(other, 'early')).toBe('early');
    link.mode = 'pass';
    expect(String((await answer)[0])).toBe('late');
    expect(server.heard).toEqual(['early', 'late']);
  });

  it('swallows bytes for good, and tells nobody before it is healed', async () => {
    const server = await echo();
    const link = await linkTo(server.port);
    const dead = await dial(link);
    link.mode = 'swallow';
    dead.write('lost');
    link.mode = 'pass';
    dead.write('lost too');
    // The end of a connection is lost as well, so it stays open.
    dead.end();
    expect(await answerTo(await dial(link), 'new')).toBe('new');
    expect(server.heard).toEqual(['new']);
    const broken = brokenOff(dead);
    link.heal();
    expect(await broken).toBe('ECONNRESET');
  });

  it('refuses connections to a target that is not there', async () => {
    const link = await Link.open(() => undefined);
    onTestFinished(() => link.close());
    const socket = connect(link.port, '127.0.0.1');
    expect(await brokenOff(socket)).toBe('ECONNRESET');
  });
});
