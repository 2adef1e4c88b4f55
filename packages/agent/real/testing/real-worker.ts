import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '@waybill/core';
import { onTestFinished } from 'vitest';
import { type Connection, connect } from 'waybill';
import type { FakeModel } from '../../src/testing/index.ts';
import { folder } from './agent.ts';

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));
/** Short, so that a test does not wait long for the lease of a worker that was killed. */
const LEASE_MS = 6_000;

export interface Place {
  /** Addresses, as of connect(). */
  store: string;
  transport?: string;
  blobs: string;
  /** What the worker needs in its environment besides. */
  env?: Record<string, string>;
}

export interface RealWorker {
  /** Of the test, on the same store. */
  waybill: Connection;
  /** Where the agent works. */
  cwd: string;
  /** Starts a process that works. */
  start(): Promise<ChildProcess>;
  /** All that these processes have logged, and printed. */
  log(): string;
}

/** Workers in processes of their own on this store, whose agents ask this model. */
export async function realWorker(place: Place, model: FakeModel): Promise<RealWorker> {
  const { env = {}, ...addresses } = place;
  const { store, ...options } = addresses;
  const [cwd, tmp] = [await folder(), await folder()];
  const running: ChildProcess[] = [];
  let log = '';
  Object.assign(process.env, env);
  const waybill = await connect(store, { ...options, logger: silentLogger, engine: { maintenance: false } });
  onTestFinished(async () => {
    await Promise.all(running.map((child) => ended(child, 'SIGTERM')));
    await waybill.close();
  });
  const start = async (): Promise<ChildProcess> => {
    const all = { PATH: process.env['PATH'], HOME: tmp, TMPDIR: tmp, AGENT_CWD: cwd, ...env, ...model.env };
    const child = spawn(process.execPath, [WORKER, JSON.stringify({ ...addresses, leaseMs: LEASE_MS })], {
      env: all,
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.push(child);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        log += text;
      });
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(() => Promise.reject(new Error(`The worker has ended: ${log}`))),
    ]);
    return child;
  };
  return { waybill, cwd, start, log: () => log };
}

/** Ends a worker, and waits for that. */
export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
