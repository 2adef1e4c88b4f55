import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Job, type LoggedEvent, silentLogger } from '@waybill/core';
import { task } from '@waybill/worker';
import { afterAll, expect, test } from 'vitest';
import { type Connection, connect } from './connect.ts';

const FIXTURE = fileURLToPath(new URL('../../dist/sdk/testing/worker-process.js', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'waybill-worker-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const load = task('load.one', { run: ({ n }: { n: number }) => n });

function startWorker(url: string, settings: object): ChildProcess {
  return fork(FIXTURE, [url, JSON.stringify(settings)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

/** Resolves when the worker has told so many things of one kind. */
function told(child: ChildProcess, kind: 'started' | 'ended', count: number): Promise<void> {
  return new Promise((resolve) => {
    let seen = 0;
    child.on('message', (message: object) => {
      if (kind in message) seen += 1;
      if (seen === count) resolve();
    });
  });
}

const allJobs = async (waybill: Connection): Promise<Job[]> =>
  (await waybill.jobs.list({ filter: { types: ['load.one'] }, limit: 1_000 })).items;

async function allEvents(waybill: Connection): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for (let after: string | undefined; ; ) {
    const page = await waybill.events.read({ limit: 1_000, ...(after !== undefined && { after }) });
    events.push(...page.events);
    if (page.atEnd) return events;
    after = page.cursor;
  }
}

// fault: SIGTERM under load
test('guarantee 11: SIGTERM under load hands back every job that was not started, and finishes the others', async () => {
  const url = `sqlite:${path.join(folder, 'term.db')}`;
  const waybill = await connect(url, { logger: silentLogger });
  const inputs = Array.from({ length: 400 }, (_, n) => ({ n }));
  const enqueued = await waybill.enqueueMany(load, inputs);
  const child = startWorker(url, { runMs: 20, concurrency: 5, prefetch: 50 });
  await told(child, 'ended', 20);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);

  const states = Map.groupBy(await allJobs(waybill), ({ state }) => state);
  expect([...states.keys()].sort()).toEqual(['available', 'completed']);
  const events = await allEvents(waybill);
  const handedBack = events.filter(({ type }) => type === 'job.requeued');
  expect(handedBack.length).toBeGreaterThanOrEqual(20);
  expect(events.filter(({ type }) => type === 'job.lease_expired' || type === 'job.failed')).toEqual([]);
  for (const job of states.get('available')!) expect(job.attempt).toBe(0);

  waybill.work([load], { concurrency: 50 });
  await Promise.all(enqueued.map((one) => waybill.wait(one)));
  for (const job of await allJobs(waybill)) expect(job).toMatchObject({ state: 'completed', attempt: 1 });
  await waybill.close();
});

// fault: the process is killed with SIGKILL while its jobs run
test('guarantee 11: SIGKILL costs a job at most one lease time', async () => {
  const LEASE_MS = 1_000;
  /** For the sweep, and for a busy machine. */
  const SLACK_MS = 2_000;
  const url = `sqlite:${path.join(folder, 'kill.db')}`;
  const waybill = await connect(url, { logger: silentLogger });
  const enqueued = await waybill.enqueueMany(load, [{ n: 1 }, { n: 2 }, { n: 3 }]);
  const settings = { runMs: 3_600_000, concurrency: 2, prefetch: 1, leaseMs: LEASE_MS, heartbeatMs: 300 };
  const child = startWorker(url, settings);
  await told(child, 'started', 2);
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  const killedAt = Date.now();
  await exited;

  waybill.work([load], { concurrency: 5 });
  const results = await Promise.all(enqueued.map((one) => waybill.wait(one)));
  expect(results).toEqual([1, 2, 3]);
  const again = (await allEvents(waybill)).filter(({ type, run }) => type === 'job.started' && run === 2);
  expect(again).toHaveLength(3);
  for (const { at } of again) expect(at - killedAt).toBeLessThan(LEASE_MS + SLACK_MS);
  await waybill.close();
});
