import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { short } from './outbox-owner.ts';

/** Which kernel this is. Sockets connect processes of one kernel only. Undefined: not Linux. */
const KERNEL = kernel();

/** By folder. A listener is never closed: it ends with its thread, and that shows that the thread is gone. */
const held = new Map<string, Promise<Server | undefined>>();

/** The name of the socket of an owner. */
export const lockOf = (owner: string): string => `${owner}.${KERNEL}.sock`;

export const LOCK_PATTERN = /^([0-9a-f-]+)\.[0-9a-f]{12}\.sock$/;

/**
 * Listens on a socket in the folder for as long as this thread runs. The kernel ends it with the thread, however that dies, and not
 * while the thread is suspended. Where the file system has no sockets, owners are judged by their silence.
 */
export async function hold(folder: string, owner: string): Promise<void> {
  if (KERNEL === undefined) return;
  if (!held.has(folder)) held.set(folder, listen(folder, lockOf(owner)));
  await held.get(folder);
}

/** Whether a thread listens on the socket of an owner. Undefined: there is no such socket, or this process may not use it. */
export async function isHeld(folder: string, owner: string): Promise<boolean | undefined> {
  if (KERNEL === undefined) return undefined;
  return within(folder, (at) => {
    const socket = connect(`${at}/${lockOf(owner)}`);
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? false : undefined));
    }).finally(() => socket.destroy()) as Promise<boolean | undefined>;
  });
}

/** The folder may have a longer path than an address of a socket can have, so it is named by its descriptor. */
async function within<T>(folder: string, work: (at: string) => Promise<T>): Promise<T> {
  const handle = await open(folder);
  try {
    return await work(`/proc/self/fd/${handle.fd}`);
  } finally {
    await handle.close();
  }
}

function listen(folder: string, name: string): Promise<Server | undefined> {
  return within(
    folder,
    (at) =>
      new Promise<Server | undefined>((resolve) => {
        const server = createServer((socket) => socket.destroy());
        server.once('error', () => resolve(undefined));
        // Exclusive: in a cluster the primary would listen instead, and go on when this process has ended.
        server.listen({ path: `${at}/${name}`, exclusive: true }, () => resolve(server));
        server.unref();
      }),
  ).catch(() => undefined);
}

function kernel(): string | undefined {
  try {
    return short(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  } catch {
    return undefined;
  }
}
