import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { freePort } from '../free-port.ts';

export interface RedisServer {
  url: string;
  durability: string;
  stop(): Promise<void>;
}

/** A Redis that writes its log to the disk every second, which is its recommended setting; null where none is installed. */
export async function startRedis(folder: string): Promise<RedisServer | null> {
  const port = await freePort();
  const dir = path.join(folder, 'redis');
  mkdirSync(dir);
  const settings = { port, bind: '127.0.0.1', dir, save: '', appendonly: 'yes', appendfsync: 'everysec' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(child, 'spawn');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  // However this process ends, the server does not outlive it.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  await untilReady(child.stdout);
  const url = `redis://127.0.0.1:${port}`;
  const version = /redis_version:(\S+)/.exec(await say(url, 'INFO server'))?.[1];
  return {
    url,
    durability: `Redis ${version}, appendonly yes, appendfsync everysec: a crash may lose a second of answered work`,
    stop: async () => {
      process.off('exit', kill);
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function untilReady(output: Readable): Promise<void> {
  let said = '';
  for await (const chunk of output.iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    if (!said.includes('Ready to accept connections')) continue;
    // What it says from now on is read and forgotten, else the pipe would fill up.
    output.resume();
    return;
  }
  throw new Error(`Redis did not start:\n${said}`);
}

/** Redis takes a line of text for a command, so that a run needs no client for this. */
async function say(url: string, command: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  try {
    socket.write(`${command}\r\n`);
    const [answer] = await once(socket, 'data');
    return String(answer);
  } finally {
    socket.destroy();
  }
}

export async function emptyRedis(url: string): Promise<void> {
  const answer = await say(url, 'FLUSHALL');
  if (!answer.startsWith('+OK')) throw new Error(`Redis did not empty itself: ${answer}`);
}
