import { spawnSync } from 'node:child_process';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { ServerProcess } from './testing/server-process.ts';

const COUNT = 10_000;
/** Besides the connections: files of the store, pipes, libraries. */
const SPARE_FILES = 500;
const AT_ONCE = 200;
/** Measured: 107 MiB for connections alone, 336 MiB while each has a request under way. */
const MOST_BYTES = 640 * 1_048_576;

/** Node raises its own limit to the hard one, in the server as in this process. */
beforeEach(({ skip }) => {
  const hard = spawnSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).stdout.trim();
  if (hard === 'unlimited' || Number(hard) >= COUNT + SPARE_FILES) return;
  const reason = `A process may open ${hard} files here, and this test needs ${COUNT + SPARE_FILES}.`;
  if (process.env['CI'] === 'true') throw new Error(reason);
  skip(reason);
});

const rssOf = (pid: number): number =>
  Number(spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).stdout) * 1_024;

/** Opens so many connections and keeps them. Each sends the text, and is there when this event has come. */
async function crowd(url: string, text: string, event: string): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      sockets.push(socket);
      socket.once(event, resolve).once('close', () => reject(new Error('The server ended a connection too early.')));
      socket.on('error', () => {});
      if (text !== '') socket.write(text);
    });
  while (sockets.length < COUNT) await Promise.all(Array.from({ length: AT_ONCE }, one));
  return sockets;
}

/** By a connection of its own: one that is kept would be used again. */
const newClient = (url: string): Promise<{ status: number | undefined; text: string }> =>
  new Promise((resolve, reject) => {
    get(`${url}/ready`, { agent: false }, async (answer) => {
      const text = (await answer.toArray()).join('');
      resolve({ status: answer.statusCode, text });
    }).on('error', reject);
  });

const HEAD = 'POST /ojs/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

const CROWDS = [
  { name: 'that never send anything', text: '', event: 'connect', status: 200 },
  { name: 'whose headers never end', text: `${HEAD}X-`, event: 'connect', status: 200 },
  // The server has begun with each of these requests when it says 100 Continue.
  {
    name: 'whose body never comes',
    text: `${HEAD}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
    event: 'data',
    status: 503,
  },
];

test.each(CROWDS)(
  'HTTP: 10,000 connections $name cost bounded memory, and a new client is answered $status',
  async ({ text, event, status }) => {
    const server = await ServerProcess.start(['serve', '--store', 'sqlite::memory:', '--port', '0']);
    onTestFinished(async () => void (await server.end('SIGKILL')));
    const before = rssOf(server.pid);
    const sockets = await crowd(server.url, text, event);
    const answer = await newClient(server.url);
    expect(answer.status).toBe(status);
    expect(rssOf(server.pid) - before).toBeLessThan(MOST_BYTES);
    if (status === 503) {
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'unavailable', retryable: true } });
      sockets[0]!.destroy();
      await expect.poll(async () => (await newClient(server.url)).status, { timeout: 30_000 }).toBe(200);
    }
    for (const socket of sockets) socket.destroy();
    expect(await server.end('SIGTERM')).toBe(0);
  },
);
