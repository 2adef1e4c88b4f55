import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { type Job, type Store, silentLogger } from '@waybill/core';
import { aJob, type JobOverrides } from '@waybill/core/testing';
import { onTestFinished } from 'vitest';
import { type SqliteOptions, sqliteStore } from '../store.ts';

/** A folder that is gone after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const tempFile = (): string => join(tempFolder(), 'waybill.db');

/** A store that is closed after the test. */
export async function openStore(options: Partial<SqliteOptions> = {}): Promise<Store> {
  const store = await sqliteStore({ path: options.path ?? tempFile(), logger: silentLogger, ...options });
  onTestFinished(() => store.close());
  return store;
}

export async function add(store: Store, ...overrides: JobOverrides[]): Promise<Job[]> {
  const answers = await store.insert(overrides.map((some) => ({ jobs: [aJob(some)] })));
  return answers.map((answer) => {
    if (answer.status !== 'inserted') throw new Error(`Expected a job to be inserted, but: ${answer.status}.`);
    return answer.jobs[0]!;
  });
}

export const claimRequest = (claimId: string, limit = 10) => ({
  tenant: '',
  queues: ['default'],
  limit,
  claimId,
  workerId: 'worker-1',
  leaseMs: 30_000,
  now: Date.now(),
});

/** Another program that holds the write lock. */
export function lock(path: string): { release(): void } {
  const db = new DatabaseSync(path);
  db.exec('begin immediate');
  return {
    release() {
      db.exec('rollback');
      db.close();
    },
  };
}

const HEADER = [
  `import { sqliteStore } from '${new URL('../store.ts', import.meta.url)}';`,
  `import { aJob } from '${import.meta.resolve('@waybill/core/testing')}';`,
  'const path = process.argv[1];',
];

/** Runs code in another process, with `sqliteStore`, `aJob` and `path` at hand; answers what it printed. */
export async function inChild(path: string, code: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', [...HEADER, code].join('\n'), path]);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [out, err, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (exitCode !== 0) throw new Error(`The other process ended with ${exitCode}: ${err}`);
  return out.trim();
}
